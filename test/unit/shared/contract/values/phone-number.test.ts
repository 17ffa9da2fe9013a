import { expect, test } from "vitest";
import { phoneNumberOf } from "../../../../../shared/contract/values/phone-number.ts";

test.each([
  "08031234567",
  " 0803 123 4567 ",
  "0803-123-4567",
  "0803.123.4567",
  "+2348031234567",
  "+234 803 123 4567",
  "+234 (0) 803 123 4567",
  "002348031234567",
  "2348031234567",
  "8031234567",
  "٠٨٠٣١٢٣٤٥٦٧",
  "0803\u200b1234567",
  // As people paste it out of a message, a link or a file: our own CSV has an apostrophe before a plus.
  "'+2348031234567",
  "08031234567,",
  "“0803 123 4567”;",
  "0803,123,4567",
  "*08031234567*",
  "tel:+234-803-123-4567",
])("%s is 08031234567", (text) => {
  expect(phoneNumberOf(text)).toBe("08031234567");
});

test.each(["", "order-08031234567", "0803123456", "080312345678", "22212345678", "06031234567", "DATA_8031234567"])(
  "%s is no phone number",
  (text) => {
    expect(phoneNumberOf(text)).toBeUndefined();
  },
);
