import { readAllPages } from "../../api/read-all-pages.ts";
import { useReadPages } from "../../api/use-read.ts";
import { auditColumns, auditCsv, entryKey } from "../../components/audit-table.tsx";
import { PagedTable } from "../../components/data-table.tsx";
import { DownloadButton } from "../../components/download-button.tsx";
import { Page } from "../../components/page.tsx";

export const ServiceAuditPage = () => (
  <Page
    title="Audit log"
    description="Changes of the service itself, newest first. Those of an account and its orders are on the account's own page."
    actions={
      <DownloadButton
        fileName="audit-service.csv"
        type="text/csv"
        read={async (onPage) => auditCsv(await readAllPages("audit service", {}, onPage))}
      >
        Download CSV
      </DownloadButton>
    }
  >
    <PagedTable
      label="Audit log"
      of={useReadPages("audit service", {})}
      rowsOf={({ entries }) => entries}
      rowKey={entryKey}
      emptyText="Nothing was recorded yet. Each change is listed here, and who read personal data."
      columns={auditColumns}
    />
  </Page>
);
