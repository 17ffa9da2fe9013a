/**
 * What a partition of DynamoDB takes in a second, of writes and of reads independently. Source: AWS, "Key range
 * throughput exceeded (hot partitions)".
 */
export const PARTITION_UNITS = 1_000;
export const PARTITION_READ_UNITS = 3_000;

/** A table or an index has as many partitions when it is new. */
const PARTITIONS_MIN = 4;
/** DynamoDB divides a partition that is used above its maximum; AWS says no time, so five minutes are assumed. */
const SPLIT_AFTER_S = 300;

const HASHES = 2 ** 32;

/** FNV-1a with a final mix: DynamoDB's own hash is not public. */
const hashOf = (key: string): number => {
  let hash = 0x811c9dc5;
  for (let index = 0; index < key.length; index += 1) hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
};

type Use = { readonly hash: number; write: number; read: number };

const shareOf = ({ write, read }: Pick<Use, "write" | "read">): number =>
  Math.max(write / PARTITION_UNITS, read / PARTITION_READ_UNITS);

/**
 * A table or an index, each key of which is in one partition, by its hash. A partition that was above its maximum is
 * divided between two keys so that both have half; a single key is never divided, because DynamoDB does not divide a
 * key whose entries are all new. Burst capacity is not counted: AWS gives it without a guarantee, and not above a
 * partition's maximum.
 */
export class SimulatedTable {
  /** The busiest second of a key, as a share of what a partition takes. */
  hottest = { key: "", share: 0 };
  /** The busiest second of a partition, as such a share. */
  busiest = 0;
  units = { write: 0, read: 0 };
  /** Units beyond a partition's maximum. */
  throttled = 0;
  lastThrottledS: number | undefined;
  /** The first hash of each partition, and for how long it has been above its maximum. */
  private partitions: { readonly from: number; overS: number }[];
  private readonly uses = new Map<string, Use>();

  /** It has carried these write units a second before: on demand, a table then takes twice as many at once. */
  constructor(writeUnitsPerS: number) {
    const count = Math.max(PARTITIONS_MIN, Math.ceil((2 * writeUnitsPerS) / PARTITION_UNITS));
    this.partitions = Array.from({ length: count }, (_, index) => ({ from: (index * HASHES) / count, overS: 0 }));
  }

  get partitionCount(): number {
    return this.partitions.length;
  }

  use(key: string, write: number, read: number): void {
    const use = this.uses.get(key);
    if (use === undefined) {
      this.uses.set(key, { hash: hashOf(key), write, read });
    } else {
      use.write += write;
      use.read += read;
    }
  }

  endSecond(second: number): void {
    const sums = this.partitions.map(() => ({ write: 0, read: 0 }));
    for (const [key, use] of this.uses) {
      const share = shareOf(use);
      if (share > this.hottest.share) this.hottest = { key, share };
      const sum = sums[this.partitionOf(use.hash)];
      if (sum === undefined) continue;
      sum.write += use.write;
      sum.read += use.read;
    }
    const divided = this.partitions.flatMap((partition, index) => {
      const sum = sums[index] ?? { write: 0, read: 0 };
      this.units.write += sum.write;
      this.units.read += sum.read;
      const share = shareOf(sum);
      this.busiest = Math.max(this.busiest, share);
      if (share <= 1) return [{ ...partition, overS: 0 }];
      this.throttled += Math.max(0, sum.write - PARTITION_UNITS) + Math.max(0, sum.read - PARTITION_READ_UNITS);
      this.lastThrottledS = second;
      const middle = partition.overS + 1 >= SPLIT_AFTER_S ? this.middleOf(index, sum.write + sum.read) : undefined;
      if (middle === undefined) return [{ ...partition, overS: partition.overS + 1 }];
      return [
        { ...partition, overS: 0 },
        { from: middle, overS: 0 },
      ];
    });
    this.partitions = divided;
    this.uses.clear();
  }

  /** The last partition that begins at or before a hash. */
  private partitionOf(hash: number): number {
    let [low, high] = [0, this.partitions.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.partitions[middle]?.from ?? 0) <= hash) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** The hash at which half of a partition's units are reached; undefined if one key has them all. */
  private middleOf(index: number, units: number): number | undefined {
    const uses = [...this.uses.values()]
      .filter(({ hash }) => this.partitionOf(hash) === index)
      .toSorted((one, other) => one.hash - other.hash);
    let before = 0;
    for (const { hash, write, read } of uses) {
      if (before > 0 && before + (write + read) / 2 >= units / 2) return hash;
      before += write + read;
    }
    return undefined;
  }
}
