import type { ActionOutput } from "../../shared/contract/actions/actions.ts";
import type { SentInput } from "../api/call-action.ts";
import { readAllPages } from "../api/read-all-pages.ts";
import type { PagedName } from "../api/use-read.ts";
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

type ListCsvButtonProps<Name extends PagedName, Row> = Omit<CsvButtonProps<Row>, "rows"> & {
  readonly list: Name;
  readonly input: SentInput<Name>;
  readonly rowsOf: (page: ActionOutput<Name>) => readonly Row[];
};

/** Reads all pages of a list, and saves their rows. */
export const ListCsvButton = <Name extends PagedName, Row>(props: ListCsvButtonProps<Name, Row>) => (
  <DownloadButton
    fileName={`${props.name}.csv`}
    type="text/csv"
    read={async (onPage) => {
      const pages = await readAllPages(props.list, props.input, onPage);
      return rowsCsv(pages.flatMap(props.rowsOf), props.columns);
    }}
  >
    Download CSV
  </DownloadButton>
);
