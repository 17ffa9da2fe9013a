import { useSearchParams } from "wouter";
import * as z from "zod";

type Changes<Schema extends z.ZodObject> = { readonly [Name in keyof z.output<Schema>]?: string | undefined };

/**
 * The filters of a list, kept in the page's address: Back, a reload and a colleague who gets the link find the same
 * list. Each field of the schema has a `catch` for what a person may type there. Empty text removes a filter.
 */
export const useFilters = <Schema extends z.ZodObject>(
  schema: Schema,
): readonly [z.output<Schema>, (changes: Changes<Schema>) => void] => {
  const [search, setSearch] = useSearchParams();
  const change = (changes: Changes<Schema>) => setSearch((before) => withChanges(before, changes), { replace: true });
  return [schema.parse(Object.fromEntries(search)), change];
};

/** How many pages of the list are shown, in the address. */
const PAGES = "pages";
const PAGES_MAX = 100;
const pageNumber = z.object({ [PAGES]: z.coerce.number().int().min(1).max(PAGES_MAX).catch(1) });

/** The number of pages of the list that are shown, and the way to show one more. */
export const usePageNumber = (): readonly [number, (pages: number) => void] => {
  const [search, setSearch] = useSearchParams();
  const show = (pages: number) =>
    setSearch(
      (before) => {
        const after = new URLSearchParams(before);
        after.set(PAGES, String(pages));
        return after;
      },
      { replace: true },
    );
  return [pageNumber.parse(Object.fromEntries(search))[PAGES], show];
};

const withChanges = (before: URLSearchParams, changes: object): URLSearchParams => {
  const after = new URLSearchParams(before);
  after.delete(PAGES);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === "") after.delete(name);
    else after.set(name, String(value));
  }
  return after;
};
