import { DownloadButton } from "./download-button.tsx";
import { type CsvColumn, rowsCsv } from "./rows-csv.ts";

type CsvButtonProps<Row> = {
  /** `open-orders`: the name of the file without its ending. */
  readonly name: string;
  readonly rows: readonly Row[] | undefined;
  readonly columns: readonly CsvColumn<Row>[];
};

/** Saves the rows that the page has. */
export const CsvButton = <Row,>({ name, rows, columns }: CsvButtonProps<Row>) => (
  <DownloadButton fileName={`${name}.csv`} type="text/csv" read={rows && (async () => rowsCsv(rows, columns))}>
    Download CSV
  </DownloadButton>
);
