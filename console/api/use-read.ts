import {
  type InfiniteData,
  skipToken,
  type UseInfiniteQueryResult,
  type UseQueryResult,
  useInfiniteQuery,
  useQuery,
} from "@tanstack/react-query";
import * as z from "#zod";
import type { ActionName, ActionOutput, actions } from "../../shared/contract/actions/actions.ts";
import { callAction, type SentInput } from "./call-action.ts";
import { refetchInterval } from "./refetch-interval.ts";

/** Actions that change nothing. */
type ReadName = {
  [Name in ActionName]: (typeof actions)[Name]["kind"] extends "read" ? Name : never;
}[ActionName];

/** Any page of a list. */
export const paged = z.object({ next_cursor: z.nullable(z.string()) });

/** Reads whose answer is a page, with the cursor of the next one. */
export type PagedName = {
  [Name in ReadName]: ActionOutput<Name> extends { readonly next_cursor: string | null }
    ? SentInput<Name> extends { readonly cursor?: string | undefined }
      ? Name
      : never
    : never;
}[ReadName];

type ReadOptions<Data> = {
  /** False: nothing is read yet, for example because a search is empty. */
  readonly enabled?: boolean;
  /** Reads again by itself while the page is visible and the person signed in, and what was read last is `followed`. */
  readonly everyMs?: number;
  readonly followed?: (data: Data) => boolean;
  /** For how long an answer that was read before is good enough; 10 seconds by default. */
  readonly freshMs?: number;
};

const queryOptions = <Data>({ enabled, everyMs, followed, freshMs }: ReadOptions<Data>) => ({
  ...(enabled !== undefined && { enabled }),
  ...(everyMs !== undefined && { refetchInterval: refetchInterval(everyMs, followed) }),
  ...(freshMs !== undefined && { staleTime: freshMs }),
});

/** The answer of a read, kept while the page is open: `useRead("keys list", { account })`. Show it with Query. */
export const useRead = <Name extends ReadName>(
  name: Name,
  input: SentInput<Name>,
  options: ReadOptions<ActionOutput<Name>> = {},
): UseQueryResult<ActionOutput<Name>, Error> =>
  useQuery({
    queryKey: [name, input],
    queryFn: ({ signal }) => callAction(name, input, { signal }),
    ...queryOptions(options),
  });

/** The pages of a read, one after the other: show them with PagedTable. Without an input nothing is read. */
export const useReadPages = <Name extends PagedName>(
  name: Name,
  input: SentInput<Name> | undefined,
  options: Omit<ReadOptions<never>, "followed"> = {},
): UseInfiniteQueryResult<InfiniteData<ActionOutput<Name>>, Error> =>
  useInfiniteQuery({
    queryKey: [name, input, "pages"],
    queryFn:
      input === undefined
        ? skipToken
        : ({ signal, pageParam }) =>
            callAction(name, input, { signal, ...(pageParam !== "" && { cursor: pageParam }) }),
    initialPageParam: "",
    getNextPageParam: (page) => paged.parse(page).next_cursor,
    ...queryOptions(options),
  });
