import { useAccount } from "../../api/use-account.ts";
import { useFilters } from "../../api/use-filters.ts";
import { useReadPages } from "../../api/use-read.ts";
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

export const AccountAuditPage = () => {
  const account = useAccount();
  const [chosen, choose] = useFilters(auditFilters);
  const input = periodError(chosen) === undefined ? { account, ...chosen } : undefined;
  const entries = useReadPages("audit account", input);
  return (
    <Page
      description="Who changed this account, or decided about one of its orders, when and why, newest first."
      actions={
        <ListCsvButton
          name={`audit-${account}${periodName(chosen)}`}
          list="audit account"
          input={input}
          rowsOf={(page) => page.entries}
          columns={auditCsvColumns}
        />
      }
    >
      <Row>
        <AuditFilterFields chosen={chosen} onChange={choose} />
      </Row>
      <PagedTable
        label="Audit log"
        of={entries}
        rowsOf={(page) => page.entries}
        rowKey={entryKey}
        emptyText={auditEmptyText}
        columns={auditColumns}
      />
    </Page>
  );
};
