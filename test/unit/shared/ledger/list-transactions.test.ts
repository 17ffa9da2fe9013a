import { describe, expect, test } from "vitest";
import * as z from "#zod";
import { transactionQuery } from "../../../../shared/contract/transaction.ts";
import { decodeCursor, encodeCursor, timeRange } from "../../../../shared/ledger/list-transactions.ts";
import { aTransaction } from "../../../builders/transaction.ts";

const place = { pk: "transaction#0123456789ABCDEFGHJKMNPQRS", created_at: "2026-11-21T09:30:00.000Z" };

describe("a cursor", () => {
  test("a cursor is decoded to the place that it was encoded from", () => {
    expect(decodeCursor(encodeCursor(place))).toEqual(place);
  });

  test("a cursor of a whole transaction holds its place and nothing else of it", () => {
    const cursor = encodeCursor(aTransaction());
    expect(decodeCursor(cursor)).toEqual(place);
    expect(Buffer.from(cursor, "base64url").toString()).not.toMatch(/08031234567|acc_1|order-1/);
  });

  test("a cursor needs no encoding in a URL, and fits into the accepted 400 characters", () => {
    const cursor = encodeCursor(place);
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
    ["cut short", encodeCursor(place).slice(0, -8)],
  ] as const)("a text that is no cursor is undefined: %s", ([, text]) => {
    expect(decodeCursor(text)).toBeUndefined();
  });
});

describe("a range with one end", () => {
  test.each(["0000-01-01", "0026-11-28", "9999-12-31", "9999-12-31T23:59:59.999Z"])(
    "%s is neither before nor after all times",
    (moment) => {
      expect(timeRange({ from: moment })).toBeDefined();
      expect(timeRange({ to: moment })).toBeDefined();
    },
  );

  test("a date ends with its last millisecond, in the first century too", () => {
    expect(timeRange({ from: "0026-11-28", to: "0026-11-28" })).toEqual({
      from: "0026-11-28T00:00:00.000Z",
      to: "0026-11-28T23:59:59.999Z",
    });
  });

  test.each(["UTC", "Africa/Lagos", "America/New_York"])("the first and the last date have a range in %s", (zone) => {
    const range = timeRange({ from: "0000-01-01", to: "9999-12-31" }, zone);
    const time = z.iso.datetime();
    expect([time.safeParse(range?.from).success, time.safeParse(range?.to).success]).toEqual([true, true]);
    expect((range?.from ?? "") < "0000-01-02" && (range?.to ?? "") > "9999-12-31").toBe(true);
  });
});
