import { Button } from "@mantine/core";
import type { InfiniteData, UseInfiniteQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import styles from "./data-table.module.css";
import { Empty } from "./empty.tsx";
import { Query } from "./query.tsx";

export type Column<Row> = {
  /** Also names the column of buttons, where only screen readers read it (`hidesHeader`). */
  readonly header: string;
  readonly hidesHeader?: boolean;
  readonly cell: (row: Row) => ReactNode;
  /** `end`: amounts and counts, with digits of one width. */
  readonly align?: "end";
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

/** A table. The first column is the heading of each row. On a phone it scrolls in itself. */
export const DataTable = <Row,>({ label, columns, rows, rowKey, emptyText }: DataTableProps<Row>) =>
  rows.length === 0 ? (
    <Empty>{emptyText}</Empty>
  ) : (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: Without it the keyboard cannot scroll a wide table.
    <section className={styles.scroll} aria-label={label} tabIndex={0}>
      <table className={styles.table}>
        <thead>
          <tr>
            {columns.map(({ header, hidesHeader, align }) => (
              <th key={header} scope="col" className={align === "end" ? styles.end : undefined}>
                {hidesHeader === true ? <span className="visually-hidden">{header}</span> : header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={rowKey(row)}>
              {columns.map(({ header, cell, align }, index) =>
                index === 0 ? (
                  <th key={header} scope="row">
                    {cell(row)}
                  </th>
                ) : (
                  <td key={header} className={align === "end" ? styles.end : undefined}>
                    {cell(row)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );

type PagedTableProps<Answer, Row> = Omit<DataTableProps<Row>, "rows"> & {
  /** Of useReadPages. */
  readonly of: UseInfiniteQueryResult<InfiniteData<Answer>, Error>;
  readonly rowsOf: (page: Answer) => readonly Row[];
};

/** The pages of a list in one table, with a button for the next page. */
export const PagedTable = <Answer, Row>({ of, rowsOf, ...table }: PagedTableProps<Answer, Row>) => (
  <Query of={of}>
    {({ pages }) => (
      <>
        <DataTable {...table} rows={pages.flatMap(rowsOf)} />
        {of.hasNextPage && (
          <div>
            <Button variant="default" loading={of.isFetchingNextPage} onClick={() => void of.fetchNextPage()}>
              Show more
            </Button>
          </div>
        )}
      </>
    )}
  </Query>
);
