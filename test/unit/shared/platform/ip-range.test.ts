import { expect, test } from "vitest";
import { isWithin } from "../../../../shared/platform/ip-address.ts";
import { formatIpRange, parseIpRange, parseIpRanges, widestRanges } from "../../../../shared/platform/ip-range.ts";

test("an IPv4-mapped range is refused or contains its IPv4 address", () => {
  for (const entry of ["::ffff:203.0.113.7", "::ffff:cb00:7107", "::ffff:203.0.113.7/128"]) {
    const range = parseIpRange(entry);
    expect(range === undefined || isWithin("203.0.113.7", [range]), entry).toBe(true);
  }
});

test.for([
  "",
  " ",
  "localhost",
  "127.1",
  "0x7f.1",
  "0x7f000001",
  "2130706433",
  "0177.0.0.1",
  "203.0.113.007",
  "203.0.113",
  "203.0.113.256",
  "203.0.113.7.1",
  " 203.0.113.7",
  "203.0.113.7 ",
  "203.0.113.7/33",
  "203.0.113.7/-1",
  "203.0.113.7/",
  "203.0.113.7/a",
  "203.0.113.7/1e1",
  "203.0.113.0/255.255.255.0",
  "203.0.113.0/24/24",
  "203.0.113.0-203.0.113.9",
  "203.0.113.*",
  "2001:db8::/129",
  "2001:db8::1::",
  "[2001:db8::1]",
  "fe80::1%eth0",
  "fe80::1%eth0/64",
  "/24",
])('"%s" is not a range', (entry) => {
  expect(parseIpRange(entry)).toBeUndefined();
});

test.for([
  ["203.0.113.7", "203.0.113.7"],
  ["203.0.113.7/32", "203.0.113.7"],
  ["203.0.113.7/24", "203.0.113.0/24"],
  ["203.0.113.255/31", "203.0.113.254/31"],
  ["203.0.113.7/0", "0.0.0.0/0"],
  ["2001:DB8:0:0::1", "2001:db8::1"],
  ["2001:db8::1/128", "2001:db8::1"],
  ["2001:db8:1:2:3::4/64", "2001:db8:1:2::/64"],
  ["2001:db8::ffff/121", "2001:db8::ff80/121"],
] as const)("%s is written as %s, which parses as the same range", ([text, written]) => {
  const [range] = parseIpRanges(text);
  expect(range && formatIpRange(range)).toBe(written);
  expect(parseIpRange(written)).toEqual(range);
});

test("20 IPv6 ranges take 340 bytes, and 20 IPv4 ranges take 100", () => {
  const bytes = (texts: readonly string[]): number =>
    parseIpRanges(texts.join()).reduce((sum, range) => sum + range.length, 0);
  expect(bytes(Array.from({ length: 20 }, (_, index) => `2001:db8:ffff:ffff:ffff:ffff:ffff:${index}/128`))).toBe(340);
  expect(bytes(Array.from({ length: 20 }, (_, index) => `203.0.113.${index}/32`))).toBe(100);
});

test.for([
  ["198.51.100.9, 198.51.100.0/24, 198.51.100.9", "198.51.100.0/24"],
  ["198.51.100.0/24, 198.51.101.0/24", "198.51.100.0/24, 198.51.101.0/24"],
  ["10.0.0.0/8, 10.1.0.0/16, 10.1.2.3, 11.0.0.1", "10.0.0.0/8, 11.0.0.1"],
  ["10.0.0.0/16, 10.0.0.0/8", "10.0.0.0/8"],
  ["2001:db8::1, 32.1.13.184, 2001:db8::/32", "32.1.13.184, 2001:db8::/32"],
  ["", ""],
] as const)("of %s the widest ranges are %s", ([list, widest]) => {
  expect(widestRanges(parseIpRanges(list)).map(formatIpRange).join(", ")).toBe(widest);
});
