import fc from "fast-check";
import ipaddr from "ipaddr.js";
import { describe, expect, test } from "vitest";
import { addressBytes, isWithin } from "../../../../shared/platform/ip-address.ts";
import { parseIpRanges } from "../../../../shared/platform/ip-range.ts";

test.for([
  ["203.0.113.7", "203.0.113.7"],
  ["203.0.113.0/24", "203.0.113.0"],
  ["203.0.113.0/24", "203.0.113.255"],
  ["203.0.113.9/24", "203.0.113.77"],
  ["10.0.0.0/8", "10.255.255.255"],
  ["203.0.113.6/31", "203.0.113.6"],
  ["203.0.113.6/31", "203.0.113.7"],
  ["203.0.113.128/25", "203.0.113.128"],
  ["0.0.0.0/0", "0.0.0.0"],
  ["0.0.0.0/0", "255.255.255.255"],
  ["0.0.0.0/1", "127.255.255.255"],
  ["203.0.113.7", "::ffff:203.0.113.7"],
  ["203.0.113.0/24", "::ffff:cb00:7109"],
  ["2001:db8::1", "2001:db8::1"],
  ["2001:db8::1", "2001:0DB8:0:0:0:0:0:1"],
  ["2001:db8:1:2::/64", "2001:db8:1:2::"],
  ["2001:db8:1:2::/64", "2001:db8:1:2:ffff:ffff:ffff:ffff"],
  ["2001:db8:1:2::9/64", "2001:db8:1:2::7"],
  ["2001:db8::4/127", "2001:db8::5"],
  ["::/0", "2001:db8::1"],
] as const)("%s contains %s", ([range, address]) => {
  expect(isWithin(address, parseIpRanges(range))).toBe(true);
});

describe("an address outside a range", () => {
  test.for([
    ["203.0.113.7", "203.0.113.6"],
    ["203.0.113.7", "203.0.113.8"],
    ["203.0.113.0/24", "203.0.112.255"],
    ["203.0.113.0/24", "203.0.114.0"],
    ["203.0.113.6/31", "203.0.113.5"],
    ["203.0.113.6/31", "203.0.113.8"],
    ["203.0.113.128/25", "203.0.113.127"],
    ["0.0.0.0/1", "128.0.0.0"],
    ["203.0.113.7", "::ffff:203.0.113.8"],
    ["0.0.0.0/0", "2001:db8::1"],
    ["::/0", "203.0.113.7"],
    ["::/0", "::ffff:203.0.113.7"],
    ["2001:db8::1", "2001:db8::2"],
    ["2001:db8:1:2::/64", "2001:db8:1:1:ffff:ffff:ffff:ffff"],
    ["2001:db8:1:2::/64", "2001:db8:1:3::"],
    ["2001:db8::4/127", "2001:db8::6"],
    ["203.0.113.7", "203.0.113"],
    ["203.0.113.7", ""],
    ["0.0.0.0/0", "nobody"],
  ] as const)("%s does not contain %s", ([range, address]) => {
    expect(isWithin(address, parseIpRanges(range))).toBe(false);
  });

  test("an empty whitelist contains no address", () => {
    expect(isWithin("203.0.113.7", [])).toBe(false);
  });
});

test("an address in the first or the last of 20 ranges is in the list", () => {
  const twenty = parseIpRanges(Array.from({ length: 20 }, (_, index) => `203.0.113.${index}`).join());
  expect([isWithin("203.0.113.0", twenty), isWithin("203.0.113.19", twenty)]).toEqual([true, true]);
  expect(isWithin("203.0.113.20", twenty)).toBe(false);
});

/** Addresses in all their spellings: compressed or not, upper case, with an IPv4 part at the end, with a zone. */
const spelledAddress = fc
  .tuple(
    fc.oneof(
      fc.uint8Array({ minLength: 4, maxLength: 4 }),
      fc.array(fc.oneof(fc.constant(0), fc.constant(0xffff), fc.integer({ min: 0, max: 0xffff })), {
        minLength: 8,
        maxLength: 8,
      }),
      fc.uint8Array({ minLength: 4, maxLength: 4 }).map((bytes) => `::ffff:${bytes.join(".")}`),
      fc.uint8Array({ minLength: 4, maxLength: 4 }).map((bytes) => `64:ff9b::${bytes.join(".")}`),
    ),
    fc.constantFrom("compressed", "whole", "upper", "zone"),
  )
  .map(([address, spelling]) => {
    if (typeof address === "string") return address;
    if (address.length === 4) return [...address].join(".");
    const whole = [...address].map((group) => group.toString(16)).join(":");
    if (spelling === "whole") return whole;
    const compressed = ipaddr.parse(whole).toString();
    return { compressed, upper: compressed.toUpperCase(), zone: `${compressed}%eth0` }[spelling];
  });

test("the bytes of an address are those that ipaddr.js reads, in every spelling", () => {
  fc.assert(
    fc.property(spelledAddress, (address) => {
      expect(addressBytes(address), address).toEqual(ipaddr.process(address).toByteArray());
    }),
    { numRuns: 2_000 },
  );
});

test.for([
  "127.1",
  "0x7f.1",
  "2130706433",
  "0177.0.0.1",
  "203.0.113.007",
  "1::2::3",
  "[::1]",
  " ::1",
  "::1 ",
  "1.2.3.4%a",
])('"%s" is no address', (text) => {
  expect(addressBytes(text)).toBeUndefined();
});
