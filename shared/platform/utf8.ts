/** Drops a byte order mark at the start, which RFC 8259 lets a JSON parser ignore. */
export const utf8 = new TextDecoder();
