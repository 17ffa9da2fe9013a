import { expect, test } from "vitest";
import { maskedDigits, maskPhones, withoutLongNumbers } from "../../../../../shared/contract/values/mask-phones.ts";

test.each([
  ["08031234567", "*********67"],
  ["1 GB to 08031234567 (MTN)", "1 GB to *********67 (MTN)"],
  ["+2348031234567, 2349091234567", "+***********67, ***********67"],
  ["call +234 803 123 4567 or 0803-123-4567", "call +*** *** *** **67 or ****-***-**67"],
  ["00234 803 123 4567, +2340803 123 4567", "***** *** *** **67, +******* *** **67"],
  ['{"phone":"08031234567"}', '{"phone":"*********67"}'],
  ["number08031234567 of acc_a08031234567bcdef0", "number*********67 of acc_a08031234567bcdef0"],
  ["ref-08031234567-2", "ref-*********67-2"],
  ["0803.123.4567, (0803) 123-4567 or 0803/123/4567", "****.***.**67, (****) ***-**67 or ****/***/**67"],
  ["+234 (0) 803 123 4567, 234-803-123-4567", "+*** (*) *** *** **67, ***-***-***-**67"],
  ["0803\u00a0123\u20114567, 0\u200b8031234567", "****\u00a0***\u2011**67, *\u200b********67"],
  ["8031234567 or 803 123 4567", "********67 or *** *** **67"],
  ["０８０３１２３４５６７", "*********67"],
  ["٠٨٠٣١٢٣٤٥٦٧ of Amina", "*********67 of Amina"],
  ["𝟎𝟖𝟎𝟑𝟏𝟐𝟑𝟒𝟓𝟔𝟕 of Amina", "*********67 of Amina"],
])("%s is shown to a reader as %s", (text, masked) => {
  expect(maskPhones(text, 2)).toBe(masked);
});

test.each([
  "2026-11-22T08:09:10.123Z",
  "acc_08031234567abcdef0",
  '{"key_id":"key_a08031234567bcdef0","previous":"f1c08031234567d1e2f3a4b5c6d7e8f90123456789abcdef0123456789abcdef0"}',
  "080312345678901",
  "5000.00",
  "0123456789",
  "91.123.145.16/32",
  "2001:db8:0:8012::1",
  "٢٠٢٦-١١-٢٢",
  "0b1d9e6c-0812-4f7a-9070-081234567890",
  "08031234-567a-4f7a-9070-081234567890",
])("%s is no phone number", (text) => {
  expect(maskPhones(text, 2)).toBe(text);
});

test("phone numbers are masked in lists, objects and names of fields, and other values stay", () => {
  const value = { list: [{ phone: "08031234567", balance: 12.5, none: null }], "08031234567": true };
  expect(maskPhones(value, 2)).toEqual({
    list: [{ phone: "*********67", balance: 12.5, none: null }],
    "*********67": true,
  });
  expect(maskPhones(value, 4)).toEqual({
    list: [{ phone: "*******4567", balance: 12.5, none: null }],
    "*******4567": true,
  });
});

test.each([
  ["NIN 12345678901", "NIN *********01"],
  ["bvn:22123456789", "bvn:*********89"],
  ["12345678901 Ada Obi", "*********01 Ada Obi"],
  ["1234 567 8901 of Ada", "**** *** **01 of Ada"],
  ["call 08031234567 now", "call *********67 now"],
  ["12345678901 23456789012", "*********** *********12"],
  ["0803,123,4567", "****,***,**67"],
  ["tel:0803*123*4567", "tel:***********67"],
])("the audit entry of a search for %s has %s", (text, masked) => {
  expect(maskedDigits(text)).toBe(masked);
});

test.each([
  "AIRTIME_01234567890123456789012345",
  "0b1d9e6c-0812-4f7a-9070-081234567890",
  "acc_08031234567abcdef0",
  "2026-11-22T08:09:10.123Z",
  "2026-11-22 08:09",
])("the audit entry of a search for %s has it as a whole", (text) => {
  expect(maskedDigits(text)).toBe(text);
});

test.each([
  ["to 0803%20123%204567", "to ****%*****%******"],
  ["MDgwMzEyMzQ1Njc=", "************Njc="],
  ['{"sent":"eyJwaG9uZV9udW1iZXIiOiIwODAzMTIzNDU2NyJ9"}', '{"sent":"eyJwaG9uZV9udW1iZXIiOiIw************NyJ9"}'],
  ["eDA4MDMxMjM0NTY3", "eDA4************"],
  ["eDgwMzEyMzQ1Njc=", "eDgw********Njc="],
  ["12345678-1234-4f7a-9070-081234567890 failed", "12345678-1234-4f7a-9070-081234567890 failed"],
  ["08031234-567a-4f7a-9070-081234567890 failed", "08031234-567a-4f7a-9070-081234567890 failed"],
  ["DATA_01234567890123456789012345 failed", "DATA_01234567890123456789012345 failed"],
  ["at 2026-11-30T08:09:10.123+00:00", "at 2026-11-30T08:09:10.123+00:00"],
  ["[2026-11-30 08:09:10,123456] failed", "[2026-11-30 08:09:10,123456] failed"],
  ["at 2026-11-30 08:09, of 08031234567", "at 2026-11-30 08:09, of *********67"],
  ["at 2026-11-30 08:0912345678901", "at ****-**-** 08:***********01"],
  ["2026-11-30 08:09:10+01:00, 2026-11-30 08:09:11+01:00", "2026-11-30 08:09:10+01:00, 2026-11-30 08:09:11+01:00"],
  ["Mon, 30 Nov 2026 08:09:10 GMT", "Mon, 30 Nov 2026 08:09:10 GMT"],
])("what is kept of an endpoint's answer %s is %s", (text, masked) => {
  expect(withoutLongNumbers(text)).toBe(masked);
});

test("masking a text takes time in proportion to its length, because an app's endpoint chooses the text", () => {
  const before = process.cpuUsage();
  maskedDigits("A".repeat(60_000));
  expect(process.cpuUsage(before).user / 1_000).toBeLessThan(1_000);
});
