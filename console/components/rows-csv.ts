import { csvText } from "../../shared/contract/csv.ts";

/** A field of the rows by its name, or a name with how its cell is made. */
export type CsvColumn<Row> =
  | {
      [Name in keyof Row & string]: Row[Name] extends string | number | boolean | null | undefined ? Name : never;
    }[keyof Row & string]
  | readonly [name: string, cell: (row: Row) => string];

/** Rows as the text of a CSV file. A field without a value is empty. */
export const rowsCsv = <Row>(rows: readonly Row[], columns: readonly CsvColumn<Row>[]): string =>
  csvText(
    columns.map((column) => (typeof column === "string" ? column : column[0])),
    rows.map((row) =>
      columns.map((column) => (typeof column === "string" ? String(row[column] ?? "") : column[1](row))),
    ),
  );
