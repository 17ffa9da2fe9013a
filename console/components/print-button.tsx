import { Button } from "@mantine/core";
import type { UseInfiniteQueryResult } from "@tanstack/react-query";
import { useEffect, useState } from "react";

/** Reads the pages of a list that are not shown yet, and prints all. */
export const PrintButton = ({
  of,
}: {
  readonly of: Pick<UseInfiniteQueryResult, "hasNextPage" | "isFetchingNextPage" | "isError" | "fetchNextPage">;
}) => {
  const [isWanted, setIsWanted] = useState(false);
  const { hasNextPage, isFetchingNextPage, isError, fetchNextPage } = of;
  useEffect(() => {
    if (!isWanted || isFetchingNextPage) return;
    if (hasNextPage && !isError) {
      void fetchNextPage();
      return;
    }
    setIsWanted(false);
    // After this effect, because within one React does not draw all rows at once, as `usePrinting` asks it to.
    if (!isError) setTimeout(print);
  }, [isWanted, hasNextPage, isFetchingNextPage, isError, fetchNextPage]);
  return (
    <Button variant="default" loading={isWanted} onClick={() => setIsWanted(true)}>
      Print
    </Button>
  );
};
