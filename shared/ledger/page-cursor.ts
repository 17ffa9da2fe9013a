import type * as z from "#zod";

/** A position in a list, as text for a URL. */
export const encodePageCursor = (position: object): string =>
  Buffer.from(JSON.stringify(position)).toString("base64url");

/** JSON may name half a character, which DynamoDB takes in no key. */
const refuseHalfCharacters = (_: string, value: unknown): unknown => {
  if (typeof value === "string" && !value.isWellFormed()) throw new TypeError("A text is no Unicode");
  return value;
};

/** Undefined if the text is not a cursor of this kind. */
export const decodePageCursor = <Position>(schema: z.ZodMiniType<Position>, text: string): Position | undefined => {
  try {
    return schema.parse(JSON.parse(Buffer.from(text, "base64url").toString("utf8"), refuseHalfCharacters));
  } catch {
    return undefined;
  }
};
