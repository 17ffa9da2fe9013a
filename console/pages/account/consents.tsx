import * as z from "#zod";
import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import type { SentInput } from "../../api/call-action.ts";
import { readAllPages } from "../../api/read-all-pages.ts";
import { useAccount } from "../../api/use-account.ts";
import { useFilters } from "../../api/use-filters.ts";
import { usePerson } from "../../api/use-person.ts";
import { useReadPages } from "../../api/use-read.ts";
import { Page, Row, Section } from "../../components/page/page.tsx";
import { accountPath, PageLink } from "../../components/page/page-link.tsx";
import { type Period, periodError, periodName } from "../../components/period/period.ts";
import { PeriodFields, periodFilters } from "../../components/period/period-fields.tsx";
import { ListCsvButton } from "../../components/table/csv-button.tsx";
import { PagedTable } from "../../components/table/data-table.tsx";
import { DownloadButton } from "../../components/table/download-button.tsx";
import { type CsvColumn, localTimeColumn } from "../../components/table/rows-csv.ts";
import { capitalised } from "../../components/values/capitalised.ts";
import { CopyText } from "../../components/values/copy-text.tsx";
import { TransactionLink } from "../../components/values/record-links.tsx";
import { Time } from "../../components/values/time.tsx";
import { typeText } from "../../components/values/transaction-values.tsx";

type Consent = ActionOutput<"consents list">["consents"][number];

const filterFields = z.object(periodFilters);

export const ConsentsPage = () => {
  const account = useAccount();
  const { may } = usePerson();
  const [period, choose] = useFilters(filterFields);
  const input = periodError(period) === undefined ? { account, ...period } : undefined;
  const consents = useReadPages("consents list", input);
  return (
    <Page
      description="Which live checks of your apps asked for a person's record, when and for what purpose. It does not show whom a check was about."
      actions={
        <ListCsvButton
          name={`consents-${account}${periodName(period)}`}
          list="consents list"
          input={input}
          rowsOf={(page) => page.consents}
          columns={csvColumns}
        />
      }
    >
      <Row>
        <PeriodFields period={period} onChange={choose} />
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
          { header: "Time", cell: ({ created_at }) => <Time iso={created_at} />, sort: "created_at" },
          { header: "Kind", cell: ({ operation }) => typeText(operation), sort: "operation" },
          { header: "Extent", cell: ({ extent }) => capitalised(extent), sort: "extent" },
          { header: "Purpose", cell: ({ purpose }) => purpose ?? "–", sort: "purpose" },
          { header: "Evidence", cell: ({ evidence }) => (evidence ? `${evidence.method} ${evidence.id}` : "–") },
          { header: "Key", cell: ({ key_id }) => key_id, sort: "key_id" },
        ]}
        emptyText="No identity check in this period. Choose a longer one."
      />
      {may("consents export", account) && <AuditorsExport account={account} period={period} input={input} />}
    </Page>
  );
};

type AuditorsExportProps = {
  readonly account: string;
  readonly period: Period;
  readonly input: SentInput<"consents export"> | undefined;
};

/** The file that nobody can change without a trace. */
const AuditorsExport = ({ account, period, input }: AuditorsExportProps) => {
  const { seesService } = usePerson();
  const fileName = `consents-${account}${periodName(period)}.jsonl`;
  return (
    <Section
      title="Export for auditors"
      description="Each line has the hash of the line before, and the audit log keeps count and last hash, so that a change of the file is found. The last two minutes are not in it."
      actions={
        <DownloadButton
          fileName={fileName}
          type="application/jsonl"
          read={
            input &&
            (async (onPage) => {
              const pages = await readAllPages("consents export", input, onPage);
              return `${pages.flatMap(({ lines }) => lines).join("\n")}\n`;
            })
          }
        >
          Export JSON Lines
        </DownloadButton>
      }
    >
      {seesService ? (
        <>
          <p>To verify a file that was exported:</p>
          <CopyText text={`npm run admin -- consents verify < ${fileName}`} label="the command" />
        </>
      ) : (
        <p>
          The last line has the number of consents and the last hash. The{" "}
          <PageLink to={accountPath(account, "audit")}>audit log</PageLink> has the same under Details. Operators verify
          the whole file with a command.
        </p>
      )}
    </Section>
  );
};

const csvColumns: readonly CsvColumn<Consent>[] = [
  "reference",
  "created_at",
  localTimeColumn(({ created_at }) => created_at),
  "operation",
  "extent",
  "purpose",
  ["evidence_method", ({ evidence }) => evidence?.method ?? ""],
  ["evidence_id", ({ evidence }) => evidence?.id ?? ""],
  ["evidence_obtained_at", ({ evidence }) => evidence?.obtained_at ?? ""],
  ["evidence_text_version", ({ evidence }) => evidence?.text_version ?? ""],
  "key_id",
  "mode",
  "request_id",
];
