import * as z from "#zod";
import { accountField } from "../../../shared/contract/actions/action.ts";
import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { useFilters } from "../../api/use-filters.ts";
import { useRead, useReadPages } from "../../api/use-read.ts";
import {
  AuditFilterFields,
  auditColumns,
  auditCsvColumns,
  auditEmptyText,
  auditFilters,
  entryKey,
} from "../../components/page/audit-log.tsx";
import { Page, Row } from "../../components/page/page.tsx";
import { periodError, periodName } from "../../components/period/period.ts";
import { ListCsvButton } from "../../components/table/csv-button.tsx";
import { PagedTable } from "../../components/table/data-table.tsx";
import { FilterSelect } from "../../components/table/filter-select.tsx";
import type { CsvColumn } from "../../components/table/rows-csv.ts";
import { AccountLink } from "../../components/values/record-links.tsx";

const filterFields = z.extend(auditFilters, { account: z.catch(z.optional(accountField), undefined) });

const csvColumns: readonly CsvColumn<ActionOutput<"audit list">["entries"][number]>[] = [
  ...auditCsvColumns,
  "account_id",
];

/** The log of what concerns no account. */
const SERVICE = "service";

export const ServiceAuditPage = () => {
  const [chosen, choose] = useFilters(filterFields);
  const { data } = useRead("accounts list", {});
  const accounts = (data?.accounts ?? []).map(({ account_id, name }) => ({ value: account_id, label: name }));
  const choices = [{ value: "", label: "All" }, { value: SERVICE, label: "None: the service itself" }, ...accounts];
  const { account = "" } = chosen;
  const input = periodError(chosen) === undefined ? chosen : undefined;
  const entries = useReadPages("audit list", input);
  return (
    <Page
      description="Everything that people did, and who with a role saw personal data, newest first. The newest entries may be missing."
      actions={
        <ListCsvButton
          name={`audit${periodName(chosen)}`}
          list="audit list"
          input={input}
          rowsOf={(page) => page.entries}
          columns={csvColumns}
        />
      }
    >
      <Row>
        <FilterSelect
          label="Account"
          // The address may have an account before the list of accounts is read, or without it.
          data={choices.some(({ value }) => value === account) ? choices : [...choices, account]}
          value={account}
          onChoose={(account) => choose({ account })}
        />
        <AuditFilterFields chosen={chosen} onChange={choose} />
      </Row>
      <PagedTable
        label="Audit log"
        of={entries}
        rowsOf={(page) => page.entries}
        rowKey={entryKey}
        emptyText={auditEmptyText}
        columns={[
          ...auditColumns,
          {
            header: "Account",
            cell: ({ account_id }) => (account_id === null ? "–" : <AccountLink account={account_id} />),
          },
        ]}
      />
    </Page>
  );
};
