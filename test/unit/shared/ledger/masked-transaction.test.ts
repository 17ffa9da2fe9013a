import { expect, test } from "vitest";
import {
  comparablePhone,
  maskedNumber,
  withMaskedNumber,
  withMaskedPhone,
} from "../../../../shared/ledger/masked-transaction.ts";
import { aTransaction } from "../../../builders/ledger/transaction.ts";

test("a masked number has its length and its last two digits, also in a text that has it twice", () => {
  expect(["08031234567", "67", "7", ""].map(maskedNumber)).toEqual(["*********67", "67", "7", ""]);
  expect(withMaskedNumber("0803 for 0803", "0803")).toBe("**03 for **03");
  expect(comparablePhone("08031234567")).toBe("0803****567");
});

test("a masked transaction has its number nowhere, and all else as it was", () => {
  const transaction = aTransaction({ phone_key: "a-hash" });
  const { phone_key: _, ...kept } = transaction;
  const masked = { phone_number: "*********67", description: "MTN 1GB data for *********67" };
  expect(withMaskedPhone(transaction)).toEqual({ ...kept, ...masked });
  const { phone_number: _number, ...check } = kept;
  expect(withMaskedPhone({ ...check, phone_key: "a-hash" })).toEqual(check);
});
