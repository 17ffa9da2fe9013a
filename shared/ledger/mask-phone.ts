import type { Transaction } from "./transaction.ts";

/** `*********67`: the last two digits of a phone number. */
export const maskedNumber = (phoneNumber: string): string =>
  `${"*".repeat(Math.max(0, phoneNumber.length - 2))}${phoneNumber.slice(-2)}`;

/** The same, wherever a text has the number. */
export const maskedText = (text: string, phoneNumber: string): string =>
  text.replaceAll(phoneNumber, maskedNumber(phoneNumber));

/** A transaction as it is after the retention of phone numbers. */
export const withMaskedPhone = (transaction: Transaction): Transaction => {
  const { phone_number: phoneNumber, description } = transaction;
  if (phoneNumber === undefined) return transaction;
  return {
    ...transaction,
    phone_number: maskedNumber(phoneNumber),
    description: maskedText(description, phoneNumber),
  };
};
