import { useState } from "react";
import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { CSV_LINE_END, csvRow } from "../../../shared/contract/csv.ts";
import { useAccount } from "../../api/use-account.ts";
import { usePerson } from "../../api/use-person.ts";
import { useReadPages } from "../../api/use-read.ts";
import { CopyText } from "../../components/copy-text.tsx";
import { PagedTable } from "../../components/data-table.tsx";
import { DownloadButton } from "../../components/download-button.tsx";
import { Page, Row, Section } from "../../components/page.tsx";
import { type Period, PeriodFields, periodInput, periodName, wholePeriod } from "../../components/period-fields.tsx";
import { TransactionLink } from "../../components/record-links.tsx";
import { Time } from "../../components/time.tsx";
import { typeText } from "../../components/transaction-values.tsx";

type Consent = ActionOutput<"consents list">["consents"][number];

export const ConsentsPage = () => {
  const account = useAccount();
  const { seesService } = usePerson();
  const [period, setPeriod] = useState(wholePeriod);
  const input = { account, ...periodInput(period) };
  const consents = useReadPages("consents list", input);
  return (
    <Page
      title="Consents"
      description="Which of your apps' checks asked for a person's record, when and for what purpose. It is not kept here whom a check was about."
      actions={
        <DownloadButton
          read="consents list"
          input={input}
          fileName={`consents-${account}${periodName(period)}.csv`}
          type="text/csv"
          textOf={csvOf}
        >
          Download CSV
        </DownloadButton>
      }
    >
      <Row>
        <PeriodFields period={period} onChange={setPeriod} />
      </Row>
      <PagedTable
        label="Consents"
        of={consents}
        rowsOf={(page) => page.consents}
        rowKey={({ reference }) => reference}
        columns={[
          {
            header: "Check",
            cell: ({ reference }) => <TransactionLink account={account} reference={reference} />,
          },
          { header: "Time", cell: ({ created_at }) => <Time iso={created_at} /> },
          { header: "Kind", cell: ({ operation }) => typeText(operation) },
          { header: "Extent", cell: ({ extent }) => extent },
          { header: "Purpose", cell: ({ purpose }) => purpose ?? "–" },
          { header: "Key", cell: ({ key_id }) => key_id },
        ]}
        emptyText="No identity check in this period. Choose a longer one."
      />
      {seesService && <AuditorsExport account={account} period={period} />}
    </Page>
  );
};

/** The file that nobody can change without a trace. */
const AuditorsExport = ({ account, period }: { readonly account: string; readonly period: Period }) => {
  const fileName = `consents-${account}${periodName(period)}.jsonl`;
  return (
    <Section
      title="Export for auditors"
      description="Each line has the hash of the line before, and the audit log keeps count and last hash, so that a change of the file is found. It ends two minutes ago at the latest."
      actions={
        <DownloadButton
          read="consents export"
          input={{ account, ...periodInput(period) }}
          fileName={fileName}
          type="application/jsonl"
          textOf={(pages) => `${pages.flatMap(({ lines }) => lines).join("\n")}\n`}
        >
          Export JSON Lines
        </DownloadButton>
      }
    >
      <p>To verify a file that was exported:</p>
      <CopyText text={`npm run admin -- consents verify < ${fileName}`} label="the command" />
    </Section>
  );
};

const COLUMNS = [
  "reference",
  "created_at",
  "operation",
  "extent",
  "purpose",
  "key_id",
  "mode",
  "request_id",
] as const satisfies readonly (keyof Consent)[];

const csvOf = (pages: readonly ActionOutput<"consents list">[]): string =>
  [csvRow(COLUMNS), ...pages.flatMap(({ consents }) => consents.map(rowOf))].join(CSV_LINE_END);

const rowOf = (consent: Consent): string => csvRow(COLUMNS.map((name) => consent[name] ?? ""));
