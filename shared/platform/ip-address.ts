import { isIPv4, isIPv6 } from "node:net";

/**
 * One range of addresses as bytes: the prefix length, then the 4 or 16 bytes of the network. Twenty of them take at
 * most 340 bytes, so a key's item stays below one write unit.
 */
export type IpRange = Uint8Array<ArrayBuffer>;

/**
 * The 4 or 16 bytes of an address, those of IPv4 for an IPv4-mapped one; undefined if the text is no address. Not by a
 * package as in ip-range.ts, because every request to the API needs it, and a cold start would load the package.
 */
export const addressBytes = (address: string): readonly number[] | undefined => {
  if (isIPv4(address)) return address.split(".").map(Number);
  if (!isIPv6(address)) return undefined;
  const [withoutZone = ""] = address.split("%");
  const [head = "", tail] = withoutZone.split("::");
  const left = bytesOfGroups(head);
  const right = bytesOfGroups(tail ?? "");
  const bytes = [...left, ...Array.from({ length: 16 - left.length - right.length }, () => 0), ...right];
  const isMapped = bytes.every((byte, index) => index >= 12 || byte === (index < 10 ? 0 : 0xff));
  return isMapped ? bytes.slice(12) : bytes;
};

/** The last group may be an IPv4 address. */
const bytesOfGroups = (groups: string): readonly number[] =>
  groups.split(":").flatMap((group) => {
    if (group === "") return [];
    if (group.includes(".")) return group.split(".").map(Number);
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });

/** Whether an address is in one of the ranges; false if there is no range. */
export const isWithin = (address: string, ranges: Iterable<IpRange>): boolean => {
  const bytes = addressBytes(address);
  if (bytes === undefined) return false;
  for (const [prefixBits = 0, ...network] of ranges) {
    if (network.length !== bytes.length) continue;
    if (network.every((byte, index) => ((bytes[index] ?? 0) & prefixMask(prefixBits, index)) === byte)) return true;
  }
  return false;
};

/** The bits of one byte of an address that a prefix covers. */
export const prefixMask = (prefixBits: number, byteIndex: number): number => {
  const covered = Math.min(8, Math.max(0, prefixBits - byteIndex * 8));
  return (0xff << (8 - covered)) & 0xff;
};
