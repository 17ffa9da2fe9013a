/** A name that people chose, within a text that can have no `<bdi>`: one of another direction must not turn the rest around. */
export const isolated = (name: string): string => `\u2068${name}\u2069`;
