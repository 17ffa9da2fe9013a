import { Button } from "@mantine/core";
import { downloadFile } from "./download-file.ts";
import { Icon } from "./icon.tsx";
import { type CsvColumn, rowsCsv } from "./rows-csv.ts";

type CsvButtonProps<Row> = {
  /** `open-orders`: the name of the file without its ending. */
  readonly name: string;
  readonly rows: readonly Row[] | undefined;
  readonly columns: readonly CsvColumn<Row>[];
};

/** Saves the rows that the page has. A paged list uses DownloadButton. */
export const CsvButton = <Row,>({ name, rows, columns }: CsvButtonProps<Row>) => (
  <Button
    variant="default"
    leftSection={<Icon name="download" />}
    disabled={rows === undefined}
    onClick={() => rows !== undefined && downloadFile(`${name}.csv`, "text/csv", rowsCsv(rows, columns))}
  >
    Download CSV
  </Button>
);
