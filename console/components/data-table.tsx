import { Button } from "@mantine/core";
import type { InfiniteData, UseInfiniteQueryResult } from "@tanstack/react-query";
import { type ReactNode, useCallback, useEffect, useState } from "react";
import { nearestKobo } from "../../shared/contract/money.ts";
import { usePageNumber } from "../api/use-filters.ts";
import styles from "./data-table.module.css";
import { Empty } from "./empty.tsx";
import { HoldRowContext } from "./held-row.ts";
import { Money } from "./money.tsx";
import { Query } from "./query.tsx";

export type Column<Row> = {
  readonly header: string;
  /** A column of buttons: only screen readers read its header. It stays in view while the table scrolls. */
  readonly hidesHeader?: boolean | undefined;
  readonly cell: (row: Row) => ReactNode;
  /** `end`: amounts and counts, with digits of one width. */
  readonly align?: "end" | undefined;
};

type DataTableProps<Row> = {
  /** What the rows are, for screen readers. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string;
  /** Shown instead of a table without rows: what is absent, and what to do. */
  readonly emptyText: ReactNode;
};

/** A row that stays in its place while a dialog that was opened from it is open. */
type HeldRow<Row> = { readonly row: Row; readonly place: number };

/** A table. The first column is the heading of each row. On a phone it scrolls in itself. */
export const DataTable = <Row,>({ label, columns, rows, rowKey, emptyText }: DataTableProps<Row>) => {
  const [held, setHeld] = useState<HeldRow<Row>>();
  const isGone = held !== undefined && !rows.some((row) => rowKey(row) === rowKey(held.row));
  const shown = isGone ? rows.toSpliced(held.place, 0, held.row) : rows;
  if (shown.length === 0) return <Empty>{emptyText}</Empty>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: Without it the keyboard cannot scroll a wide table.
    <section className={styles.scroll} aria-label={label} tabIndex={0}>
      <table className={styles.table}>
        <thead>
          <tr>
            {columns.map(({ header, hidesHeader, align }) => (
              <th key={header} scope="col" className={classOf({ hidesHeader, align })}>
                {hidesHeader === true ? <span className="visually-hidden">{header}</span> : header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((row, place) => (
            <TableRow key={rowKey(row)} columns={columns} row={row} place={place} onHold={setHeld} />
          ))}
        </tbody>
      </table>
    </section>
  );
};

const classOf = ({ hidesHeader, align }: Pick<Column<never>, "hidesHeader" | "align">): string | undefined => {
  if (hidesHeader === true) return styles.buttons;
  return align === "end" ? styles.end : undefined;
};

type TableRowProps<Row> = HeldRow<Row> & {
  readonly columns: readonly Column<Row>[];
  readonly onHold: (held: HeldRow<Row> | undefined) => void;
};

const TableRow = <Row,>({ columns, row, place, onHold }: TableRowProps<Row>) => {
  const hold = useCallback((isHeld: boolean) => onHold(isHeld ? { row, place } : undefined), [row, place, onHold]);
  return (
    <HoldRowContext value={hold}>
      <tr>
        {columns.map(({ header, hidesHeader, cell, align }, index) =>
          index === 0 ? (
            <th key={header} scope="row">
              {cell(row)}
            </th>
          ) : (
            <td key={header} className={classOf({ hidesHeader, align })}>
              {cell(row)}
            </td>
          ),
        )}
      </tr>
    </HoldRowContext>
  );
};

type PagedTableProps<Answer, Row> = Omit<DataTableProps<Row>, "rows"> & {
  /** Of useReadPages. */
  readonly of: UseInfiniteQueryResult<InfiniteData<Answer>, Error>;
  readonly rowsOf: (page: Answer) => readonly Row[];
  /** What the shown rows come to, in naira. */
  readonly amountOf?: (row: Row) => number;
};

/** The pages of a list in one table, with a button for the next page. The address has the number of pages shown. */
export const PagedTable = <Answer, Row>({ of, rowsOf, amountOf, ...table }: PagedTableProps<Answer, Row>) => {
  const [wanted, show] = usePageNumber();
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = of;
  const read = of.data?.pages.length;
  const goesOn = read !== undefined && read < wanted && hasNextPage && !isFetchingNextPage && !of.isError;
  useEffect(() => {
    if (goesOn) void fetchNextPage();
  }, [goesOn, fetchNextPage]);
  return (
    <Query of={of}>
      {({ pages }) => {
        const rows = pages.flatMap(rowsOf);
        return (
          <>
            {rows.length > 0 && <Summary rows={rows} amountOf={amountOf} hasMore={hasNextPage} />}
            <DataTable {...table} rows={rows} />
            {hasNextPage && (
              <div>
                <Button variant="default" loading={isFetchingNextPage} onClick={() => show(pages.length + 1)}>
                  Show more
                </Button>
              </div>
            )}
          </>
        );
      }}
    </Query>
  );
};

type SummaryProps<Row> = {
  readonly rows: readonly Row[];
  readonly amountOf: ((row: Row) => number) | undefined;
  readonly hasMore: boolean;
};

const Summary = <Row,>({ rows, amountOf, hasMore }: SummaryProps<Row>) => (
  <p className={styles.summary}>
    {rows.length === 1 ? "1 row" : `${rows.length} rows`}
    {hasMore && ", and there are more"}
    {amountOf !== undefined && (
      <>
        {". Sum: "}
        <Money kobo={rows.reduce((sum, row) => sum + nearestKobo(amountOf(row)), 0)} />
      </>
    )}
  </p>
);
