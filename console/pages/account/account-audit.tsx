import { readAllPages } from "../../api/read-all-pages.ts";
import { useAccount } from "../../api/use-account.ts";
import { useReadPages } from "../../api/use-read.ts";
import { auditColumns, auditCsv, entryKey } from "../../components/audit-table.tsx";
import { PagedTable } from "../../components/data-table.tsx";
import { DownloadButton } from "../../components/download-button.tsx";
import { Page } from "../../components/page.tsx";

export const AccountAuditPage = () => {
  const account = useAccount();
  return (
    <Page
      title="Audit log"
      description="Who changed this account, or decided about one of its orders, when and why, newest first."
      actions={
        <DownloadButton
          fileName={`audit-${account}.csv`}
          type="text/csv"
          read={async (onPage) => auditCsv(await readAllPages("audit account", { account }, onPage))}
        >
          Download CSV
        </DownloadButton>
      }
    >
      <PagedTable
        label="Audit log"
        of={useReadPages("audit account", { account })}
        rowsOf={({ entries }) => entries}
        rowKey={entryKey}
        emptyText="Nothing was recorded yet. Each change is listed here, and who of the service read personal data."
        columns={auditColumns}
      />
    </Page>
  );
};
