import { csvText } from "../../../shared/contract/values/csv.ts";
import { timeIn } from "../../../shared/contract/values/time-zone.ts";

type MadeColumn<Row> = readonly [name: string, cell: (row: Row, timeZone: string) => string];

/** A field of the rows by its name, or a name with how its cell is made. */
export type CsvColumn<Row> =
  | {
      [Name in keyof Row & string]: Row[Name] extends string | number | boolean | null | undefined ? Name : never;
    }[keyof Row & string]
  | MadeColumn<Row>;

/** A time in the time zone of the stage, beside the one in UTC; empty without one. */
export const localTimeColumn = <Row>(timeOf: (row: Row) => string | undefined): MadeColumn<Row> => [
  "local_time",
  (row, timeZone) => {
    const time = timeOf(row);
    return time === undefined ? "" : timeIn(Date.parse(time), timeZone);
  },
];

/** Rows as the text of a CSV file. A field without a value is empty. */
export const rowsCsv = <Row>(rows: readonly Row[], columns: readonly CsvColumn<Row>[], timeZone: string): string =>
  csvText(
    columns.map((column) => (typeof column === "string" ? column : column[0])),
    rows.map((row) =>
      columns.map((column) => (typeof column === "string" ? String(row[column] ?? "") : column[1](row, timeZone))),
    ),
  );
