import type { ActionOutput } from "../../shared/contract/actions/actions.ts";
import { callAction, type SentInput } from "./call-action.ts";
import { type PagedName, paged } from "./use-read.ts";

/** Every page of a read, for a file; `onPage` gets their number so far. */
export const readAllPages = async <Name extends PagedName>(
  name: Name,
  input: SentInput<Name>,
  onPage: (pages: number) => void,
): Promise<readonly ActionOutput<Name>[]> => {
  const pages: ActionOutput<Name>[] = [];
  let cursor: string | null | undefined;
  do {
    const page = await callAction(name, input, { ...(typeof cursor === "string" && { cursor }) });
    pages.push(page);
    onPage(pages.length);
    cursor = paged.parse(page).next_cursor;
  } while (cursor !== null);
  return pages;
};
