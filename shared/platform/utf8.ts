/** Drops a byte order mark, as RFC 8259 allows a JSON parser to. */
export const utf8 = new TextDecoder();
