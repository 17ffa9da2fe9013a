import { expect, test } from "vitest";
import * as z from "#zod";
import { decodePageCursor, encodePageCursor } from "../../../../shared/ledger/page-cursor.ts";

test("a position is read back from its text, and any other text is no position", () => {
  const schema = z.object({ pk: z.string() });
  const text = encodePageCursor({ pk: "transaction#1 \u00e9" });
  expect(text).toMatch(/^[\w-]+$/);
  expect(decodePageCursor(schema, text)).toEqual({ pk: "transaction#1 \u00e9" });
  for (const other of [encodePageCursor({ pk: 1 }), encodePageCursor({}), "", "no cursor"]) {
    expect(decodePageCursor(schema, other)).toBeUndefined();
  }
});

test("a position with half a character in a text is none: no key of DynamoDB has one", () => {
  const schema = z.looseObject({ pk: z.string() });
  for (const position of [{ pk: "transaction#\ud800" }, { pk: "transaction#1", deep: [{ at: "\udc00" }] }]) {
    expect(decodePageCursor(schema, encodePageCursor(position))).toBeUndefined();
  }
  expect(decodePageCursor(schema, encodePageCursor({ pk: "\u{1f600}" }))).toEqual({ pk: "\u{1f600}" });
});
