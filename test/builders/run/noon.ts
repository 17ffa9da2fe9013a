/** The moment at which a clock of the tests stands, unless a test sets another. */
export const NOON_MS = Date.parse("2026-11-21T12:00:00.000Z");
