import { ERASED_FINGERPRINT, type Transaction } from "./transaction.ts";

/** `*********67`: the last two digits of a phone number. */
export const maskedNumber = (phoneNumber: string): string =>
  `${"*".repeat(Math.max(0, phoneNumber.length - 2))}${phoneNumber.slice(-2)}`;

/** `0803****567`: enough for an operator to compare, too little to call. The upstream may send any text as a number. */
export const comparablePhone = (phoneNumber: string): string =>
  `${phoneNumber.slice(0, 4)}****${phoneNumber.slice(-3)}`.toWellFormed();

/** The number's mask, wherever a text has the number. */
export const withMaskedNumber = (text: string, phoneNumber: string): string =>
  text.replaceAll(phoneNumber, maskedNumber(phoneNumber));

/** A transaction as it is after the retention of phone numbers: also without the key by which its number is found. */
export const withMaskedPhone = (transaction: Transaction): Transaction => {
  const { phone_key: _key, ...kept } = transaction;
  const { phone_number: phoneNumber, description } = kept;
  if (phoneNumber === undefined) return kept;
  return {
    ...kept,
    phone_number: maskedNumber(phoneNumber),
    description: withMaskedNumber(description, phoneNumber),
  };
};

/** Whether what names the person of an order or a check was removed. */
export const isErased = ({ fingerprint, phone_number }: Pick<Transaction, "fingerprint" | "phone_number">): boolean =>
  fingerprint === ERASED_FINGERPRINT || (!!phone_number && phone_number === maskedNumber(phone_number));
