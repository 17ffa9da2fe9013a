import { useState } from "react";
import { useRoute } from "wouter";
import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { periodCsvCells, periodCsvColumns } from "../../../shared/contract/reports/statement-csv.ts";
import { counted } from "../../../shared/contract/values/counted.ts";
import { csvText } from "../../../shared/contract/values/csv.ts";
import { nairaDecimals } from "../../../shared/contract/values/money.ts";
import { datesOf } from "../../../shared/contract/values/time-zone.ts";
import { sentenceOf } from "../../api/action-error.ts";
import { readAllPages } from "../../api/read-all-pages.ts";
import { useRead, useReadPages } from "../../api/use-read.ts";
import { BusyButton } from "../../components/page/busy-button.tsx";
import { Facts } from "../../components/page/facts.tsx";
import { Notice } from "../../components/page/notice.tsx";
import { Page, Section } from "../../components/page/page.tsx";
import { PageLink } from "../../components/page/page-link.tsx";
import { Query } from "../../components/page/query.tsx";
import { DataTable, PagedTable } from "../../components/table/data-table.tsx";
import { DownloadButton } from "../../components/table/download-button.tsx";
import { CopyText } from "../../components/values/copy-text.tsx";
import { Money } from "../../components/values/money.tsx";
import { AccountLink } from "../../components/values/record-links.tsx";
import { StageTime, Time } from "../../components/values/time.tsx";
import { lineKindText } from "../../components/values/transaction-values.tsx";

type Period = ActionOutput<"periods show">;
type Differences = ActionOutput<"periods verify">["differences"];

export const PeriodPage = () => {
  const [, params] = useRoute("/periods/:month");
  const month = params?.month ?? "";
  const period = useRead("periods show", { month });
  const accounts = useReadPages("periods accounts", { month });
  return (
    <Page
      title={month}
      description={<PageLink to="/periods">All periods</PageLink>}
      actions={
        period.data && (
          <>
            <DownloadButton
              fileName={`accounts-${month}.csv`}
              type="text/csv"
              read={async (onPage) => accountsCsv(await readAllPages("periods accounts", { month }, onPage))}
            >
              Download accounts
            </DownloadButton>
            <DownloadButton fileName={`lines-${month}.csv`} type="text/csv" read={(onPage) => linesCsv(month, onPage)}>
              Download lines
            </DownloadButton>
          </>
        )
      }
    >
      <Query of={period}>
        {(shown) => (
          <>
            <Section
              title="Sums"
              description="Keep the hash where nobody who operates the service can change it: it shows later whether the month was changed."
            >
              <PeriodFacts {...shown} />
              <DataTable
                label="Lines by kind"
                rows={shown.kinds}
                rowKey={({ kind }) => kind}
                columns={[
                  { header: "Kind", cell: ({ kind }) => lineKindText(kind) },
                  { header: "Lines", align: "end", cell: ({ count }) => count },
                  { header: "Amount", align: "end", cell: ({ amount }) => <Money naira={amount} /> },
                ]}
                emptyText="No money moved in this month."
              />
            </Section>
            <Verification month={month} accounts={shown.accounts} />
            <Section
              title="Accounts"
              description={`For the journal: npm run admin -- ledger export --period ${month} --format journal`}
            >
              <PagedTable
                label="Accounts"
                of={accounts}
                rowsOf={(page) => page.accounts}
                rowKey={({ account_id }) => account_id}
                columns={[
                  {
                    header: "Account",
                    cell: ({ account_id }) => (
                      <AccountLink account={account_id} page="statement" period={datesOf(month)} />
                    ),
                  },
                  { header: "Opening", align: "end", cell: ({ opening }) => <Money naira={opening} /> },
                  { header: "Closing", align: "end", cell: ({ closing }) => <Money naira={closing} /> },
                  { header: "Lines", align: "end", cell: ({ lines }) => lines },
                  { header: "Open orders", align: "end", cell: ({ open_orders }) => open_orders },
                ]}
                emptyText="No account existed in this month."
              />
            </Section>
          </>
        )}
      </Query>
    </Page>
  );
};

const PeriodFacts = (period: Period) => (
  <Facts
    facts={[
      { name: "Opening balance", value: <Money naira={period.opening} /> },
      { name: "Closing balance", value: <Money naira={period.closing} /> },
      { name: "Lines", value: period.lines },
      { name: "Accounts", value: period.accounts },
      { name: "Orders still open at the end", value: period.open_orders },
      { name: "Time zone", value: period.time_zone },
      { name: "Begins", value: <StageTime iso={period.from} zone={period.time_zone} /> },
      { name: "Closed", value: <Time iso={period.closed_at} /> },
      { name: "Hash", value: <CopyText text={period.hash} label="the hash" />, isWide: true },
    ]}
  />
);

const Verification = ({ month, accounts }: { readonly month: string; readonly accounts: number }) => {
  const [calls, setCalls] = useState<number>();
  const [differences, setDifferences] = useState<Differences>();
  const [failure, setFailure] = useState<unknown>();
  const verify = async () => {
    setFailure(undefined);
    setDifferences(undefined);
    setCalls(0);
    try {
      setDifferences((await readAllPages("periods verify", { month }, setCalls)).flatMap((page) => page.differences));
    } catch (error) {
      setFailure(error);
    } finally {
      setCalls(undefined);
    }
  };
  return (
    <Section
      title="Verification"
      description={`Adds up the lines of ${counted(accounts, "account")} again, and compares them with the hash.`}
      actions={
        <BusyButton variant="default" isBusy={calls !== undefined} onClick={() => void verify()}>
          Verify
        </BusyButton>
      }
    >
      {failure !== undefined && (
        <Notice tone="bad" title="The month was not verified">
          {sentenceOf(failure)}
        </Notice>
      )}
      {differences?.length === 0 && <Notice tone="good" title={`${month} is as it was closed`} />}
      {differences !== undefined && differences.length > 0 && (
        <>
          <Notice tone="bad" title={`${month} differs from what was closed`}>
            Compare the first line of each account with a backup, and inform the person who is responsible for security.
          </Notice>
          <DataTable
            label="Differences"
            rows={differences}
            rowKey={({ account_id, what }) => `${account_id} ${what}`}
            columns={[
              {
                header: "Account",
                cell: ({ account_id: account }) =>
                  account === null ? "The service" : <AccountLink account={account} />,
              },
              { header: "What differs", cell: ({ what }) => what },
            ]}
            emptyText=""
          />
        </>
      )}
    </Section>
  );
};

const accountsCsv = (pages: readonly ActionOutput<"periods accounts">[]): string =>
  csvText(
    ["account_id", "month", "opening", "lines", "closing", "open_orders", "hash"],
    pages
      .flatMap(({ accounts }) => accounts)
      .map(({ account_id, month, opening, lines, closing, open_orders, hash }) => [
        ...[account_id, month, nairaDecimals(opening), String(lines)],
        ...[nairaDecimals(closing), String(open_orders), hash],
      ]),
  );

/** The lines of all accounts, as `ledger export` prints them. */
const linesCsv = async (month: string, onPage: (pages: number) => void): Promise<string> => {
  const accounts = (await readAllPages("periods accounts", { month }, onPage)).flatMap((page) => page.accounts);
  const rows: (readonly string[])[] = [];
  let read = 0;
  for (const { account_id: account } of accounts) {
    const pages = await readAllPages("periods lines", { month, account }, () => {
      read += 1;
      onPage(read);
    });
    for (const page of pages)
      rows.push(...[...page.lines, ...page.cost_changes].map((line) => periodCsvCells(account, line)));
  }
  return csvText(periodCsvColumns, rows);
};
