import { useSearchParams } from "wouter";
import * as z from "#zod";

type Changes<Schema extends z.ZodMiniObject> = { readonly [Name in keyof z.output<Schema>]?: string | undefined };

/**
 * The filters of a list, kept in the page's address: Back, a reload and a colleague who gets the link find the same
 * list. Each field of the schema has a `catch` for what a person may type there. Empty text removes a filter.
 */
export const useFilters = <Schema extends z.ZodMiniObject>(
  schema: Schema,
): readonly [z.output<Schema>, (changes: Changes<Schema>) => void] => {
  const [search, setSearch] = useSearchParams();
  const change = (changes: Changes<Schema>) => setSearch((before) => withChanges(before, changes), { replace: true });
  return [schema.parse(Object.fromEntries(search)), change];
};

/** How many pages of the list are shown, in the address. */
const PAGES = "pages";
/** Beyond any list that a browser can hold: at a lower one the button for the next page would do nothing. */
const PAGES_MAX = 10_000;
const pageNumber = z.object({
  [PAGES]: z.catch(
    z.pipe(
      z.coerce.number().check(z.int(), z.minimum(1)),
      z.transform((pages) => Math.min(pages, PAGES_MAX)),
    ),
    1,
  ),
});

/** The number of pages of the list that are shown, and the way to show one more. */
export const usePageNumber = (): readonly [number, (pages: number) => void] => {
  const [search, setSearch] = useSearchParams();
  const show = (pages: number) =>
    setSearch((before) => set(withoutPlaces(before), PAGES, String(pages)), { replace: true });
  return [pageNumber.parse(Object.fromEntries(search))[PAGES], show];
};

/** Begins the names of what the address has of one table: the column that sorts it, and where in it the person is. */
const SORT = "sort-";
const PART = "part-";
const ROW = "row-";

/** What the query of an address has so that the table begins with this row. */
export const rowFilter = (table: string, row: string): Record<string, string> => ({ [ROW + table]: row });

export type TableView = {
  /** The header of the column that sorts, after a minus for the largest first; undefined: as it was read. */
  readonly sort: string | undefined;
  /** The part of its rows, from 1 on; undefined: the one that the table chooses. */
  readonly part: number | undefined;
  /** The name of the row to which the person scrolled; undefined: they see the table's beginning. */
  readonly row: string | undefined;
  readonly onSort: (sort: string | undefined) => void;
  readonly onPart: (part: number) => void;
  readonly onRow: (row: string | undefined) => void;
  /** Shows the part that has this row. */
  readonly onPartOf: (row: string) => void;
};

/** How a table is shown, kept in the address; `table` is its name there. */
export const useTableView = (table: string): TableView => {
  const [search, setSearch] = useSearchParams();
  const part = Number(search.get(PART + table));
  return {
    sort: search.get(SORT + table) ?? undefined,
    part: Number.isSafeInteger(part) && part > 0 ? part : undefined,
    row: search.get(ROW + table) ?? undefined,
    onSort: (sort) => setSearch((before) => set(withoutPlaces(before), SORT + table, sort), { replace: true }),
    onPart: (shown) =>
      setSearch((before) => set(set(before, ROW + table, undefined), PART + table, String(shown)), { replace: true }),
    onRow: (row) => setSearch((before) => set(before, ROW + table, row), { replace: true }),
    onPartOf: (row) => setSearch((before) => set(withoutPlaces(before), ROW + table, row), { replace: true }),
  };
};

const set = (before: URLSearchParams, name: string, value: string | undefined): URLSearchParams => {
  const after = new URLSearchParams(before);
  if (value === undefined) after.delete(name);
  else after.set(name, value);
  return after;
};

const withoutPlaces = (before: URLSearchParams): URLSearchParams =>
  new URLSearchParams([...before].filter(([name]) => !name.startsWith(PART) && !name.startsWith(ROW)));

const withChanges = (before: URLSearchParams, changes: object): URLSearchParams => {
  const after = withoutPlaces(before);
  after.delete(PAGES);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === "") after.delete(name);
    else after.set(name, String(value));
  }
  return after;
};
