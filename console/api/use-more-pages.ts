import type { UseInfiniteQueryResult } from "@tanstack/react-query";
import { useEffect } from "react";

export type MorePages = Pick<UseInfiniteQueryResult, "hasNextPage" | "isFetching" | "isError" | "fetchNextPage">;

/**
 * Reads the next page of a list, one after the other, while more are wanted. Returns whether one is awaited. A list that
 * is read again is not interrupted, because what has changed in it would stay unseen; and one page that failed is not
 * asked for again, because the service may have refused it to slow the page down.
 */
export const useMorePages = ({ hasNextPage, isFetching, isError, fetchNextPage }: MorePages, isWanted: boolean) => {
  const isAwaited = isWanted && hasNextPage && !isError;
  const goesOn = isAwaited && !isFetching;
  useEffect(() => {
    if (goesOn) void fetchNextPage({ cancelRefetch: false });
  }, [goesOn, fetchNextPage]);
  return isAwaited;
};
