import { Button } from "@mantine/core";
import type { InfiniteData, UseInfiniteQueryResult } from "@tanstack/react-query";
import { type ReactNode, useCallback, useState } from "react";
import { counted } from "../../../shared/contract/values/counted.ts";
import { nearestKobo } from "../../../shared/contract/values/money.ts";
import { sentenceOf } from "../../api/action-error.ts";
import { usePageNumber, useTableView } from "../../api/use-filters.ts";
import { readPagesAgain, useMorePages } from "../../api/use-more-pages.ts";
import { BusyButton } from "../page/busy-button.tsx";
import { Empty } from "../page/empty.tsx";
import { slugOf } from "../page/markdown.ts";
import { Notice } from "../page/notice.tsx";
import { Query } from "../page/query.tsx";
import { usePrinting } from "../page/use-printing.ts";
import { Money } from "../values/money.tsx";
import { withThousands } from "../values/number-text.ts";
import styles from "./data-table.module.css";
import { HoldRowContext, useHeldRow } from "./held-row.ts";
import { rowName, useRowAtTop } from "./row-at-top.ts";

export type Column<Row> = {
  readonly header: string;
  /** A column of buttons: only screen readers read its header. It stays in view while the table scrolls. */
  readonly hidesHeader?: boolean | undefined;
  readonly cell: (row: Row) => ReactNode;
  /** `end`: amounts and counts, with digits of one width. */
  readonly align?: "end" | undefined;
  /** By which field, or by what else, a press on the header sorts the rows; a row without a value comes last. */
  readonly sort?: SortField<Row> | ((row: Row) => SortValue) | undefined;
};

type SortValue = string | number | null | undefined;
type SortField<Row> = {
  [Name in keyof Row & string]: Row[Name] extends SortValue ? Name : never;
}[keyof Row & string];

type DataTableProps<Row> = {
  /** What the rows are, for screen readers. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string;
  /** Shown instead of a table without rows: what is absent, and what to do. */
  readonly emptyText: ReactNode;
  /** The list grows at its end: the newest part is shown first. */
  readonly growsAtEnd?: true;
  /** More rows are being read. */
  readonly isGrowing?: boolean;
};

/** A row that stays in its place while a dialog that was opened from it is open. */
type HeldRow<Row> = { readonly row: Row; readonly place: number };

/** A browser draws and sorts no more rows in 50 ms, a pause that people do not notice. Paper gets all. */
const ROWS_AT_ONCE = 100;

/** A table. The first column is the heading of each row. On a phone it scrolls in itself. */
export const DataTable = <Row,>(props: DataTableProps<Row>) => {
  const { label, columns, rows, rowKey, emptyText, growsAtEnd = false, isGrowing = false } = props;
  const view = useTableView(slugOf(label));
  const isPrinting = usePrinting();
  const [held, setHeld] = useState<HeldRow<Row>>();
  useHeldRow(held !== undefined);
  const sorted = sortedRows(rows, columns, view.sort);
  const parts = Math.max(1, Math.ceil(sorted.length / ROWS_AT_ONCE));
  const place = view.row === undefined ? -1 : sorted.findIndex((row) => rowName(rowKey(row)) === view.row);
  const first = growsAtEnd ? parts : 1;
  const part = Math.min(view.part ?? (place === -1 ? first : 1 + Math.floor(place / ROWS_AT_ONCE)), parts);
  // Without a row the address would show the part that the table chooses, in place of the one that the row was in.
  const onRow = (row: string | undefined) =>
    row === undefined && part !== first ? view.onPart(part) : view.onRow(row);
  const body = useRowAtTop({ row: view.row, onRow, isAwaited: place === -1 && isGrowing });
  const shownRows = isPrinting ? sorted : sorted.slice((part - 1) * ROWS_AT_ONCE, part * ROWS_AT_ONCE);
  const isGone = held !== undefined && !shownRows.some((row) => rowKey(row) === rowKey(held.row));
  const shown = isGone ? shownRows.toSpliced(held.place, 0, held.row) : shownRows;
  if (shown.length === 0) return <Empty>{emptyText}</Empty>;
  return (
    <>
      {parts > 1 && !isPrinting && <Parts label={label} part={part} count={sorted.length} onPart={view.onPart} />}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: Without it the keyboard cannot scroll a wide table. */}
      <section className={styles.scroll} aria-label={label} tabIndex={0}>
        <table className={styles.table} aria-label={label}>
          <thead>
            <tr>
              {columns.map((column) => (
                <Header key={column.header} column={column} sort={view.sort} onSort={view.onSort} />
              ))}
            </tr>
          </thead>
          <tbody ref={body}>
            {shown.map((row, place) => (
              <TableRow
                key={rowKey(row)}
                name={rowName(rowKey(row))}
                columns={columns}
                row={row}
                place={place}
                onHold={setHeld}
              />
            ))}
          </tbody>
        </table>
      </section>
    </>
  );
};

/** The header that sorts, and in which direction. */
const directionOf = (sort: string | undefined, header: string): "ascending" | "descending" | undefined => {
  if (sort === header) return "ascending";
  return sort === `-${header}` ? "descending" : undefined;
};

const sortedRows = <Row,>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  sort: string | undefined,
): readonly Row[] => {
  const column = columns.find(({ header }) => directionOf(sort, header) !== undefined);
  const by = column?.sort;
  if (by === undefined) return rows;
  const value = (row: Row): unknown => (typeof by === "function" ? by(row) : row[by]);
  const direction = directionOf(sort, column?.header ?? "") === "descending" ? -1 : 1;
  const isAbsent = (row: Row): boolean => (value(row) ?? undefined) === undefined;
  return rows.toSorted((one, other) => {
    if (isAbsent(one) || isAbsent(other)) return Number(isAbsent(one)) - Number(isAbsent(other));
    return direction * compare(value(one), value(other));
  });
};

const texts = new Intl.Collator("en", { numeric: true });
const compare = (one: unknown, other: unknown): number =>
  typeof one === "number" && typeof other === "number" ? one - other : texts.compare(String(one), String(other));

const arrows = { ascending: "▲", descending: "▼" } as const;

type HeaderProps<Row> = {
  readonly column: Column<Row>;
  readonly sort: string | undefined;
  readonly onSort: (sort: string | undefined) => void;
};

/** A press sorts by the column, a second one the other way round, and a third one shows the rows as they were read. */
const Header = <Row,>({ column, sort, onSort }: HeaderProps<Row>) => {
  const { header, hidesHeader, align } = column;
  const direction = directionOf(sort, header);
  const next = { ascending: `-${header}`, descending: undefined, none: header }[direction ?? "none"];
  return (
    <th
      scope="col"
      className={classOf({ hidesHeader, align })}
      {...(column.sort !== undefined && { "aria-sort": direction ?? "none" })}
    >
      {column.sort !== undefined && (
        <button type="button" className={styles.sort} onClick={() => onSort(next)}>
          {header}
          <span aria-hidden>{direction === undefined ? "" : ` ${arrows[direction]}`}</span>
        </button>
      )}
      {column.sort === undefined && (hidesHeader === true ? <span className="visually-hidden">{header}</span> : header)}
    </th>
  );
};

type PartsProps = {
  readonly label: string;
  readonly part: number;
  readonly count: number;
  readonly onPart: (part: number) => void;
};

/** Which of many rows are shown, and the way to the others. */
const Parts = ({ label, part, count, onPart }: PartsProps) => {
  const [first, last] = [(part - 1) * ROWS_AT_ONCE + 1, Math.min(part * ROWS_AT_ONCE, count)];
  return (
    <nav aria-label={`Parts of ${label}`} className={styles.parts}>
      <span role="status">
        Rows {withThousands(first)} to {withThousands(last)} of {withThousands(count)}
      </span>
      <Button variant="default" size="xs" disabled={part === 1} onClick={() => onPart(part - 1)}>
        Previous rows
      </Button>
      <Button variant="default" size="xs" disabled={last === count} onClick={() => onPart(part + 1)}>
        Next rows
      </Button>
    </nav>
  );
};

const classOf = ({ hidesHeader, align }: Pick<Column<never>, "hidesHeader" | "align">): string | undefined => {
  if (hidesHeader === true) return styles.buttons;
  return align === "end" ? styles.end : undefined;
};

type TableRowProps<Row> = HeldRow<Row> & {
  /** The name of the table in the page's address. */
  readonly name: string;
  readonly columns: readonly Column<Row>[];
  readonly onHold: (held: HeldRow<Row> | undefined) => void;
};

const TableRow = <Row,>({ name, columns, row, place, onHold }: TableRowProps<Row>) => {
  const hold = useCallback((isHeld: boolean) => onHold(isHeld ? { row, place } : undefined), [row, place, onHold]);
  return (
    <HoldRowContext value={hold}>
      <tr data-row={name}>
        {columns.map(({ header, hidesHeader, cell, align }, index) =>
          index === 0 ? (
            <th key={header} scope="row">
              {withThousands(cell(row))}
            </th>
          ) : (
            <td key={header} className={classOf({ hidesHeader, align })}>
              {withThousands(cell(row))}
            </td>
          ),
        )}
      </tr>
    </HoldRowContext>
  );
};

type PagedTableProps<Answer, Row> = Omit<DataTableProps<Row>, "rows"> & {
  /** Shown in place of `emptyText` while there are further pages: pages may be empty. */
  readonly emptySoFarText?: string;
  /** The result of useReadPages. */
  readonly of: UseInfiniteQueryResult<InfiniteData<Answer>, Error>;
  readonly rowsOf: (page: Answer) => readonly Row[];
  /** What the shown rows come to, in naira. */
  readonly amountOf?: (row: Row) => number;
};

/** The pages of a list in one table, with a button for the next page. The address has the number of pages shown. */
export const PagedTable = <Answer, Row>(props: PagedTableProps<Answer, Row>) => {
  const {
    of,
    rowsOf,
    amountOf,
    emptyText,
    emptySoFarText = "None so far. Show more to look at the rest.",
    ...table
  } = props;
  const [wanted, show] = usePageNumber();
  const { data, error, isEnabled, isFetching, refetch, hasNextPage, isFetchNextPageError } = of;
  // While the list is read again, the error is still that of the page after it.
  const [lacksPage, setLacksPage] = useState(isFetchNextPageError);
  if (!isFetching && lacksPage !== isFetchNextPageError) setLacksPage(isFetchNextPageError);
  const isAwaited = useMorePages(of, data !== undefined && data.pages.length < wanted);
  const isReadingMore = isAwaited || of.isFetchingNextPage;
  const rows = data?.pages.flatMap(rowsOf);
  return (
    <>
      <RowSummary rows={rows} amountOf={amountOf} hasMore={hasNextPage} />
      {/* If a further page could not be read, those before it are not out of date. */}
      <Query of={{ data, error: lacksPage ? null : error, isEnabled, isFetching, refetch }}>
        {({ pages }) => (
          <>
            <DataTable
              {...table}
              rows={rows ?? []}
              emptyText={hasNextPage ? emptySoFarText : emptyText}
              growsAtEnd
              isGrowing={isReadingMore}
            />
            {lacksPage && (
              <Notice tone="bad" title="More rows could not be loaded">
                {sentenceOf(error)}
              </Notice>
            )}
            {hasNextPage && (
              <div>
                <BusyButton
                  variant="default"
                  isBusy={isReadingMore || (lacksPage && isFetching)}
                  onClick={() => {
                    if (lacksPage) void readPagesAgain(of);
                    else show(pages.length + 1);
                  }}
                >
                  {lacksPage ? "Try again" : "Show more"}
                </BusyButton>
              </div>
            )}
          </>
        )}
      </Query>
    </>
  );
};

type RowSummaryProps<Row> = {
  readonly rows: readonly Row[] | undefined;
  /** What the shown rows come to, in naira. */
  readonly amountOf: ((row: Row) => number) | undefined;
  readonly hasMore: boolean;
};

/** Always in the page, so that screen readers read out what another filter or a further page has brought. */
export const RowSummary = <Row,>({ rows, amountOf, hasMore }: RowSummaryProps<Row>) => {
  const isShown = rows !== undefined && rows.length > 0;
  return (
    <p role="status" className={isShown ? styles.summary : "visually-hidden"}>
      {rows !== undefined && counted(rows.length, "row")}
      {isShown && hasMore && ", and there are more"}
      {isShown && amountOf !== undefined && (
        <>
          {". Sum: "}
          <Money kobo={rows.reduce((sum, row) => sum + nearestKobo(amountOf(row)), 0)} />
        </>
      )}
    </p>
  );
};
