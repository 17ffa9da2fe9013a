import { isoTime } from "../platform/time.ts";
import type { Ledger } from "./ledger.ts";
import { joinParts, type UpdateParts, updateOf } from "./update-parts.ts";
import { listed, unlisted, type Wallet } from "./wallet.ts";

/** What a carry-over has counted: `versions` is the number of lines. */
export type WalletState = {
  readonly balanceKobo: number;
  readonly versions: number;
  readonly queued: ReadonlySet<number>;
};

/** Sets numbers of a queue; DynamoDB has no empty sets. */
const numbersPart = (name: "queue_front" | "queue_gaps", numbers: ReadonlySet<number>): UpdateParts =>
  numbers.size === 0 ? { removes: [name] } : { sets: [`${name} = :${name}`], values: { [`:${name}`]: numbers } };

/**
 * The queue of these numbers: all in front, or from the first one on with gaps. The shorter one is written, because an item
 * has at most 400 KB.
 */
const queueParts = (ledger: Ledger, queued: ReadonlySet<number>, tail: number): UpdateParts => {
  const numbers = [...queued].toSorted((one, other) => one - other);
  const last = Math.max(tail, numbers.at(-1) ?? 0);
  const first = numbers[0] ?? last + 1;
  const others = Array.from({ length: last - first + 1 }, (_, index) => first + index).filter((n) => !queued.has(n));
  const isInFront = queued.size <= others.length;
  return joinParts(
    last === 0
      ? {}
      : {
          sets: ["queue_tail = :last, queue_head = :head"],
          values: { ":last": last, ":head": isInFront ? last + 1 : first },
        },
    numbersPart("queue_front", isInFront ? queued : new Set()),
    isInFront && queued.size > 0 ? { sets: ["queue_front_at = :now"] } : { removes: ["queue_front_at"] },
    numbersPart("queue_gaps", isInFront ? new Set() : new Set(others)),
    queued.size > 0 ? listed(ledger) : unlisted,
    { removes: ["turn_until"] },
  );
};

/**
 * Sets the balance, the version and the numbers of the queued orders, if none of them has changed since the wallet was
 * read: one part of a transaction of writes. Only a carry-over corrects a wallet.
 */
export const walletCorrection = (ledger: Ledger, read: Wallet, { balanceKobo, versions, queued }: WalletState) => {
  const { queue_tail: tail } = read;
  const state: UpdateParts = {
    sets: ["balance_kobo = :balance, version = :version, updated_at = :now"],
    conditions: ["version = :read", tail === undefined ? "attribute_not_exists(queue_tail)" : "queue_tail = :tail"],
    values: {
      ":balance": balanceKobo,
      ":version": versions,
      ":now": isoTime(ledger.clock()),
      ":read": read.version,
      ":tail": tail,
    },
  };
  // As the first item of its transaction it would be read as an order if it were returned.
  const update = updateOf(state, queueParts(ledger, queued, tail ?? 0));
  return { Update: { TableName: ledger.table, Key: { pk: read.pk }, ...update } };
};
