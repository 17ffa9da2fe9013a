import ipaddr from "ipaddr.js";
import { type IpRange, prefixMask } from "./ip-address.ts";

/** Parses `203.0.113.7`, `203.0.113.0/24`, `2001:db8::1` or `2001:db8::/64`; undefined for anything else. */
export const parseIpRange = (text: string): IpRange | undefined => {
  const [address = "", bits, ...rest] = text.split("/");
  if (rest.length > 0 || !isPlainAddress(address) || (bits !== undefined && !/^(0|[1-9]\d{0,2})$/.test(bits)))
    return undefined;
  const bytes = ipaddr.parse(address).toByteArray();
  const prefixBits = bits === undefined ? bytes.length * 8 : Number(bits);
  if (prefixBits > bytes.length * 8) return undefined;
  return Uint8Array.of(prefixBits, ...bytes.map((byte, index) => byte & prefixMask(prefixBits, index)));
};

/** The range as text: the network address, and the prefix length unless it is a single address. */
export const formatIpRange = ([prefixBits = 0, ...network]: IpRange): string => {
  const address = ipaddr.fromByteArray(network).toString();
  return prefixBits === network.length * 8 ? address : `${address}/${prefixBits}`;
};

/** Whether all addresses of one range are in the other. */
export const isRangeWithin = ([innerBits = 0, ...inner]: IpRange, [outerBits = 0, ...outer]: IpRange): boolean =>
  inner.length === outer.length &&
  innerBits >= outerBits &&
  outer.every((byte, index) => ((inner[index] ?? 0) & prefixMask(outerBits, index)) === byte);

/** The ranges that are in no other one, each once. */
export const widestRanges = (ranges: readonly IpRange[]): readonly IpRange[] => {
  // Two ranges are disjoint, or one contains the other and comes first.
  const place = ([prefixBits = 0, ...network]: IpRange) => Uint8Array.of(network.length, ...network, prefixBits);
  const widest: IpRange[] = [];
  for (const range of ranges.toSorted((one, other) => Buffer.compare(place(one), place(other)))) {
    const last = widest.at(-1);
    if (last === undefined || !isRangeWithin(range, last)) widest.push(range);
  }
  return widest;
};

/** The intersection of two lists. Two ranges overlap only if one contains the other, so no new range is needed. */
export const commonRanges = (some: readonly IpRange[], others: readonly IpRange[]): readonly IpRange[] => {
  const common = [
    ...some.filter((range) => others.some((other) => isRangeWithin(range, other))),
    ...others.filter((range) => some.some((other) => isRangeWithin(range, other))),
  ];
  return [...new Map(common.map((range) => [formatIpRange(range), range])).values()];
};

/** Parses a comma-separated list of ranges; throws if an entry is not a range. */
export const parseIpRanges = (list: string): readonly IpRange[] =>
  list
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "")
    .map((entry) => {
      const range = parseIpRange(entry);
      if (range === undefined) throw new Error(`"${entry}" is no IP address or CIDR range`);
      return range;
    });

/**
 * Dotted decimal with four parts, or IPv6 without a zone: not the shorthands such as `127.1` or `0x7f.1`, and no IPv4
 * address in IPv6 form, because such a caller appears with its IPv4 address.
 */
const isPlainAddress = (address: string): boolean =>
  ipaddr.IPv4.isValidFourPartDecimal(address) ||
  (ipaddr.IPv6.isValid(address) && !address.includes("%") && !ipaddr.IPv6.parse(address).isIPv4MappedAddress());
