import { useEffect, useState } from "react";
import { type MorePages, useMorePages } from "../../api/use-more-pages.ts";
import { BusyButton } from "./busy-button.tsx";

/** Reads the pages of a list that are not shown yet, and prints all. */
export const PrintButton = ({ of }: { readonly of: MorePages }) => {
  const [isWanted, setIsWanted] = useState(false);
  const isAwaited = useMorePages(of, isWanted);
  const { isError } = of;
  useEffect(() => {
    if (!isWanted || isAwaited) return;
    setIsWanted(false);
    // After this effect, because within one React does not draw all rows at once, as `usePrinting` asks it to.
    if (!isError) setTimeout(print);
  }, [isWanted, isAwaited, isError]);
  return (
    <BusyButton variant="default" isBusy={isWanted} onClick={() => setIsWanted(true)}>
      Print
    </BusyButton>
  );
};
