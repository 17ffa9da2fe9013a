import type { ActionOutput } from "../../shared/contract/actions/actions.ts";
import type { Column } from "./data-table.tsx";
import { type CsvColumn, rowsCsv } from "./rows-csv.ts";
import { Time } from "./time.tsx";

type Entry = ActionOutput<"audit account">["entries"][number];

/** An entry has no name of its own; two of one moment differ in their details. */
export const entryKey = (entry: Entry): string => JSON.stringify(entry);

/** By name, as the admin commands print them. */
const detailsText = (details: Entry["details"]): string =>
  Object.entries(details)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => `${name}: ${value}`)
    .join(", ");

/** An entry as a row of a file. */
const auditCsvColumns: readonly CsvColumn<Entry>[] = [
  "at",
  "by",
  "caller_arn",
  "source_ip",
  "action",
  ["details", ({ details }) => detailsText(details)],
  "why",
];

export const auditCsv = (pages: readonly { readonly entries: readonly Entry[] }[]): string =>
  rowsCsv(
    pages.flatMap(({ entries }) => entries),
    auditCsvColumns,
  );

export const auditColumns: readonly Column<Entry>[] = [
  { header: "Time", cell: ({ at }) => <Time iso={at} /> },
  {
    header: "By",
    cell: ({ by, caller_arn, source_ip }) => (
      <>
        {by}
        {caller_arn !== null && <div>{caller_arn}</div>}
        {source_ip !== null && <div>from {source_ip}</div>}
      </>
    ),
  },
  { header: "Change", cell: ({ action }) => action },
  { header: "Details", cell: ({ details }) => detailsText(details) },
  { header: "Reason", cell: ({ why }) => why ?? "–" },
];
