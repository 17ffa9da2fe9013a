import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import type { SentInput } from "../../api/call-action.ts";
import { readAllPages } from "../../api/read-all-pages.ts";
import { usePerson } from "../../api/use-person.ts";
import type { PagedName } from "../../api/use-read.ts";
import { DownloadButton } from "./download-button.tsx";
import { type CsvColumn, rowsCsv } from "./rows-csv.ts";

type CsvButtonProps<Row> = {
  /** `open-orders`: the name of the file without its ending. */
  readonly name: string;
  readonly rows: readonly Row[] | undefined;
  readonly columns: readonly CsvColumn<Row>[];
};

/** Saves the rows that the page has. */
export const CsvButton = <Row,>({ name, rows, columns }: CsvButtonProps<Row>) => {
  const { time_zone: timeZone } = usePerson();
  return (
    <DownloadButton
      fileName={`${name}.csv`}
      type="text/csv"
      read={rows && (async () => rowsCsv(rows, columns, timeZone))}
    >
      Download CSV
    </DownloadButton>
  );
};

type ListCsvButtonProps<Name extends PagedName, Row> = Omit<CsvButtonProps<Row>, "rows"> & {
  readonly list: Name;
  /** Undefined: nothing can be read with the filters of the page. */
  readonly input: SentInput<Name> | undefined;
  readonly rowsOf: (page: ActionOutput<Name>) => readonly Row[];
};

/** Reads all pages of a list, and saves their rows. */
export const ListCsvButton = <Name extends PagedName, Row>(props: ListCsvButtonProps<Name, Row>) => {
  const { name, list, input, rowsOf, columns } = props;
  const { time_zone: timeZone } = usePerson();
  return (
    <DownloadButton
      fileName={`${name}.csv`}
      type="text/csv"
      read={
        input &&
        (async (onPage) => rowsCsv((await readAllPages(list, input, onPage)).flatMap(rowsOf), columns, timeZone))
      }
    >
      Download CSV
    </DownloadButton>
  );
};
