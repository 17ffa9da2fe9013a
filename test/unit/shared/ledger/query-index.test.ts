import { describe, expect, test } from "vitest";
import { transactionQuery } from "../../../../shared/contract/transaction-query.ts";
import { decodeIndexKey, encodeIndexKey } from "../../../../shared/ledger/query-index.ts";
import { isTransactionPk } from "../../../../shared/ledger/schema.ts";
import { aTransaction } from "../../../builders/ledger/transaction.ts";

const place = { pk: "transaction#0123456789ABCDEFGHJKMNPQRS", created_at: "2026-11-21T09:30:00.000Z" };
const decode = (text: string) => decodeIndexKey(text, isTransactionPk);

describe("a cursor", () => {
  test("a cursor is decoded to the place that it was encoded from", () => {
    expect(decode(encodeIndexKey(place))).toEqual(place);
  });

  test("a cursor of a whole transaction holds its place and nothing else of it", () => {
    const cursor = encodeIndexKey(aTransaction());
    expect(decode(cursor)).toEqual(place);
    expect(Buffer.from(cursor, "base64url").toString()).not.toMatch(/08031234567|acc_1|order-1/);
  });

  test("a cursor needs no encoding in a URL, and fits into the accepted 400 characters", () => {
    const cursor = encodeIndexKey(place);
    expect(encodeURIComponent(cursor)).toBe(cursor);
    expect(transactionQuery.parse({ cursor }).cursor).toBe(cursor);
  });
});

describe("a text that is not a cursor", () => {
  const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");

  test.for([
    ["empty", ""],
    ["plain", "next"],
    ["base64 of no JSON", Buffer.from("{").toString("base64url")],
    ["null", encoded(null)],
    ["an array", encoded([place])],
    ["without a time", encoded({ pk: place.pk })],
    ["without a key", encoded({ created_at: place.created_at })],
    ["of a number as key", encoded({ ...place, pk: 7 })],
    ["of a time that is none", encoded({ ...place, created_at: "yesterday" })],
    ["of an item that is no transaction", encoded({ ...place, pk: "wallet#acc_1" })],
    ["with half a character in the key", encoded({ ...place, pk: "transaction#\ud800" })],
    ["cut short", encodeIndexKey(place).slice(0, -8)],
  ] as const)("a text that is no cursor is undefined: %s", ([, text]) => {
    expect(decode(text)).toBeUndefined();
  });
});
