import type { Surface } from "./surface-schema.ts";

/** What this tree reads and does not write yet, because the last release cannot read it. The next release may write it. */
const readFirst: readonly string[] = [];

/** `ledger: transaction.status = "failed"` and `ledger: transaction.status: string` are about `ledger: transaction.status`. */
const fieldOf = (offer: string): string => offer.replace(/ = .*$|: [a-z]+$/s, "");

/** Whether a field may be missing or beyond its limit now. */
const isLooser = (demand: string, before: string, after: string | undefined): boolean =>
  after === undefined || (/ :: \w*min/i.test(demand) ? Number(after) < Number(before) : Number(after) > Number(before));

/**
 * What one release may store and the one before it cannot read: a value or a type that a field of both did not have, and a
 * field that can be missing or beyond its limit now. No release looks at fields and kinds that it does not know.
 */
const notReadBefore = (before: Surface, after: Surface): readonly string[] => {
  const fields = new Set(Object.keys(before.offers).map(fieldOf));
  return [
    ...Object.keys(after.offers).filter((offer) => !Object.hasOwn(before.offers, offer) && fields.has(fieldOf(offer))),
    ...Object.entries(before.demands)
      .filter(([demand, limit]) => isLooser(demand, limit, after.demands[demand]))
      .map(([demand]) => `${demand}, no longer`),
  ];
};

/** What is wrong with the list `readFirst`: the last release reads `before` of what is stored, this one `after`. */
export const readFirstProblems = (before: Surface, after: Surface, listed = readFirst): readonly string[] => {
  const unread = notReadBefore(before, after);
  return [
    ...unread
      .filter((each) => !listed.includes(each))
      .map(
        (each) =>
          `${each}: the last release cannot read it. Do not write it yet, and list it in tools/release/read-first.ts`,
      ),
    ...listed
      .filter((each) => !unread.includes(each))
      .map((each) => `${each}: the last release reads it. Write it, and take it off tools/release/read-first.ts`),
  ];
};
