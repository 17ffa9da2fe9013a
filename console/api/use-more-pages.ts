import type { UseInfiniteQueryResult } from "@tanstack/react-query";
import { useEffect } from "react";
import { isLasting } from "./action-error.ts";

export type MorePages = Pick<UseInfiniteQueryResult, "hasNextPage" | "isFetching" | "isError" | "fetchNextPage">;

/** Reads the next page of a list without interrupting one that is read again, because what has changed in it would stay unseen. */
export const readNextPage = ({ fetchNextPage }: Pick<MorePages, "fetchNextPage">): Promise<unknown> =>
  fetchNextPage({ cancelRefetch: false });

type FailedPages = Pick<UseInfiniteQueryResult, "error" | "isFetchNextPageError" | "fetchNextPage" | "refetch">;

/** Goes on with the page that failed. If its cursor was refused for good, or the first page failed, all are read anew. */
export const readPagesAgain = ({
  error,
  isFetchNextPageError,
  fetchNextPage,
  refetch,
}: FailedPages): Promise<unknown> =>
  isFetchNextPageError && !isLasting(error) ? readNextPage({ fetchNextPage }) : refetch();

/**
 * Reads the next page of a list, one after the other, while more are wanted. Returns whether one is awaited. One page that
 * failed is not asked for again, because the service may have refused it to slow the page down.
 */
export const useMorePages = ({ hasNextPage, isFetching, isError, fetchNextPage }: MorePages, isWanted: boolean) => {
  const isAwaited = isWanted && hasNextPage && !isError;
  const goesOn = isAwaited && !isFetching;
  useEffect(() => {
    if (goesOn) void readNextPage({ fetchNextPage });
  }, [goesOn, fetchNextPage]);
  return isAwaited;
};
