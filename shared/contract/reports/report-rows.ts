/** A row for each group of sums, in the order of the groups. */
export const rowsByGroup = <Sums, Row>(
  all: readonly Sums[],
  groupOf: (sums: Sums) => readonly (string | null)[],
  rowOf: (first: Sums, of: readonly Sums[]) => Row,
): Row[] =>
  [...Map.groupBy(all, (sums) => sortKeyOf(groupOf(sums)))]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([, [first, ...others]]) => (first === undefined ? [] : [rowOf(first, [first, ...others])]));

/** Sorts part by part, a part without a value last. What is between two parts is before all that a longer name goes on with. */
const sortKeyOf = (group: readonly (string | null)[]): string => group.map((part) => part ?? "\uffff").join("\0");

/** Until when all pages are complete; null without an account. */
export const completeUntil = (pages: readonly { readonly complete_until: string | null }[]): string | null =>
  pages
    .flatMap(({ complete_until }) => complete_until ?? [])
    .toSorted()
    .at(0) ?? null;
