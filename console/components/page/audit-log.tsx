import * as z from "#zod";
import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { auditKindSchema, auditKinds } from "../../../shared/contract/actions/audit.ts";
import { CommittedText } from "../change/committed-text.tsx";
import { PeriodFields, periodFilters } from "../period/period-fields.tsx";
import type { Column } from "../table/data-table.tsx";
import { FilterSelect } from "../table/filter-select.tsx";
import type { CsvColumn } from "../table/rows-csv.ts";
import { Breakable } from "../values/breakable.tsx";
import { Time } from "../values/time.tsx";

type Entry = ActionOutput<"audit account">["entries"][number];

export const auditFilters = z.object({
  person: z.catch(z.optional(z.string().check(z.maxLength(200))), undefined),
  kind: z.catch(z.optional(auditKindSchema), undefined),
  ...periodFilters,
});
export type AuditFilters = z.output<typeof auditFilters>;

type AuditFilterFieldsProps = {
  readonly chosen: AuditFilters;
  readonly onChange: (changes: { readonly [Name in keyof AuditFilters]?: string | undefined }) => void;
};

export const AuditFilterFields = ({ chosen, onChange }: AuditFilterFieldsProps) => (
  <>
    <CommittedText label="Person" value={chosen.person ?? ""} onCommit={(person) => onChange({ person })} />
    <FilterSelect
      label="Kind"
      data={[{ value: "", label: "Any" }, ...Object.entries(auditKinds).map(([value, label]) => ({ value, label }))]}
      value={chosen.kind ?? ""}
      onChoose={(kind) => onChange({ kind })}
    />
    <PeriodFields period={chosen} onChange={onChange} />
  </>
);

/** An entry has no name of its own; two of one moment differ in their details. */
export const entryKey = (entry: Entry): string => JSON.stringify(entry);

/** By name, as the admin commands print them. */
const detailsText = (details: Entry["details"]): string =>
  Object.entries(details)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => `${name}: ${value}`)
    .join(", ");

/** The fields of an entry in a file. */
export const auditCsvColumns: readonly CsvColumn<Entry>[] = [
  ...(["at", "by", "caller_arn", "source_ip", "user_agent", "kind", "action", "sentence"] as const),
  ["details", ({ details }) => detailsText(details)],
  "why",
];

export const auditColumns = [
  { header: "Time", cell: ({ at }) => <Time iso={at} /> },
  {
    header: "What was done",
    cell: ({ sentence, action, details }) => (
      <>
        {sentence}
        <details>
          <summary>Details</summary>
          {[action, detailsText(details)].filter((text) => text !== "").join(", ")}
        </details>
      </>
    ),
  },
  { header: "Reason", cell: ({ why }) => why ?? "–" },
  {
    header: "From",
    cell: ({ caller_arn, source_ip, user_agent }) => (
      <>
        <span title={user_agent ?? undefined}>{source_ip ?? "–"}</span>
        {caller_arn !== null && (
          <div>
            <Breakable text={caller_arn} />
          </div>
        )}
      </>
    ),
  },
] satisfies readonly Column<Entry>[];

export const auditEmptyText =
  "No entry matches. Each change is listed here, and each read of personal data by a person with a role.";
