import type { ActionOutput } from "../../shared/contract/actions/actions.ts";
import { counted } from "../../shared/contract/values/counted.ts";
import type { SentInput } from "./call-action.ts";
import { readPagesAgain, useMorePages } from "./use-more-pages.ts";
import { useReadPages } from "./use-read.ts";

type ReportName = "margin report" | "refund-clock report";
type ReportOptions = { readonly enabled?: boolean; readonly everyMs?: number };

/** Orders are added up each hour, and a report reads the sums of all accounts. */
const FRESH_MS = 300_000;

/** What `reportOf` makes of all pages of a report, once the last one was read. Show it with Query. */
export const useReport = <Name extends ReportName, Report>(
  name: Name,
  input: SentInput<Name> | undefined,
  reportOf: (pages: readonly ActionOutput<Name>[]) => Report,
  options: ReportOptions = {},
) => {
  const read = useReadPages(name, input, { ...options, freshMs: FRESH_MS });
  const { data, error, isEnabled, isFetching, hasNextPage } = read;
  useMorePages(read, true);
  const pages = data?.pages ?? [];
  const accounts = pages.reduce((sum, page) => sum + page.accounts, 0);
  const isWhole = data !== undefined && !hasNextPage;
  return {
    data: isWhole ? reportOf(pages) : undefined,
    error,
    isEnabled,
    isFetching,
    refetch: () => readPagesAgain(read),
    // Also a page that was refused for good: the first one has a new cursor.
    ...(read.isFetchNextPageError && { canTryAgain: true as const }),
    ...(hasNextPage && { progress: `Read ${counted(accounts, "account")}` }),
  };
};
