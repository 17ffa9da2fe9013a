import { type RefObject, useEffect, useLayoutEffect, useRef } from "react";

/**
 * What a row is called in the address: a hash of its key (FNV-1a), because a key may be long, or name a person. Of two rows
 * with the same hash the first is shown.
 */
export const rowName = (key: string): string => {
  let hash = 0x81_1c_9d_c5;
  for (let at = 0; at < key.length; at += 1) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01_00_01_93);
  return (hash >>> 0).toString(36);
};

type RowAtTop = {
  /** The name of the row in the address. */
  readonly row: string | undefined;
  readonly onRow: (row: string | undefined) => void;
  /** The row may be among those that are being read. */
  readonly isAwaited: boolean;
};

/** Safari has no event for the end of scrolling. */
const SCROLLED_MS = 150;
/** Browsers scroll to fractions of a pixel. */
const ROUNDING_PX = 2;

/**
 * Keeps the first row below the page's header in the address while the person scrolls, and scrolls to the row that the
 * address has when the table is first shown. Returns the reference of the table's body, whose rows have `data-row`.
 */
export const useRowAtTop = ({ row, onRow, isAwaited }: RowAtTop): RefObject<HTMLTableSectionElement | null> => {
  const body = useRef<HTMLTableSectionElement>(null);
  const isShown = useRef(false);
  const current = useRef({ row, onRow });
  useLayoutEffect(() => {
    current.current = { row, onRow };
  });
  // After each drawing, until the row is there: also one of a page that is read later.
  useLayoutEffect(() => {
    if (isShown.current || body.current === null || isAwaited) return;
    isShown.current = true;
    if (row === undefined) return;
    const shown = rowsOf(body.current).find(({ dataset }) => dataset.row === row);
    // A browser that goes back scrolls, after this, to the height at which the page was left: another row may be there now.
    requestAnimationFrame(() => shown?.scrollIntoView());
  });
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const keep = () => {
      if (!isShown.current || body.current === null) return;
      const top = rowAtTop(rowsOf(body.current));
      if (top !== current.current.row) current.current.onRow(top);
    };
    const onScroll = () => {
      clearTimeout(timer);
      timer = setTimeout(keep, SCROLLED_MS);
    };
    addEventListener("scroll", onScroll, { passive: true });
    return () => {
      clearTimeout(timer);
      removeEventListener("scroll", onScroll);
    };
  }, []);
  return body;
};

const rowsOf = (body: HTMLTableSectionElement): readonly HTMLTableRowElement[] => [...body.rows];

/** Undefined while the table's beginning is in view, and once its end has left the window. */
const rowAtTop = (rows: readonly HTMLTableRowElement[]): string | undefined => {
  const [first] = rows;
  if (first === undefined) return undefined;
  const topPx = Number.parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop) - ROUNDING_PX;
  const isBelow = (row: HTMLTableRowElement): boolean => row.getBoundingClientRect().top >= topPx;
  return isBelow(first) ? undefined : rows.find(isBelow)?.dataset.row;
};
