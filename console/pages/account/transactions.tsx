import { NativeSelect } from "@mantine/core";
import { useState } from "react";
import { useLocation } from "wouter";
import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { LISTED_TRANSACTIONS_MAX } from "../../../shared/contract/actions/transactions.ts";
import { CSV_LINE_END, csvRow } from "../../../shared/contract/csv.ts";
import { nairaDecimals } from "../../../shared/contract/money.ts";
import { modeSchema, transactionStatus, transactionType } from "../../../shared/contract/transaction.ts";
import { useAccount } from "../../api/use-account.ts";
import { useReadPages } from "../../api/use-read.ts";
import { PagedTable } from "../../components/data-table.tsx";
import { DownloadButton } from "../../components/download-button.tsx";
import { FindTransaction } from "../../components/find-transaction.tsx";
import { Money } from "../../components/money.tsx";
import { Page, Row } from "../../components/page.tsx";
import { accountPath } from "../../components/page-link.tsx";
import { PeriodFields, periodInput, periodName, wholePeriod } from "../../components/period-fields.tsx";
import { TransactionLink } from "../../components/record-links.tsx";
import { Time } from "../../components/time.tsx";
import {
  TransactionStatusText,
  transactionStatuses,
  transactionTypes,
  typeText,
} from "../../components/transaction-values.tsx";
import { Unbroken } from "../../components/unbroken.tsx";

type Listed = ActionOutput<"transactions list">["transactions"][number];

const ANY = { value: "", label: "Any" };

export const TransactionsPage = () => {
  const account = useAccount();
  const [, navigate] = useLocation();
  const [period, setPeriod] = useState(wholePeriod);
  const [chosen, setChosen] = useState({ mode: "live", status: "", type: "" });
  const choose = (change: Partial<typeof chosen>) => setChosen({ ...chosen, ...change });
  const filter = {
    account,
    mode: modeSchema.parse(chosen.mode),
    status: transactionStatus.safeParse(chosen.status).data,
    type: transactionType.safeParse(chosen.type).data,
    ...periodInput(period),
  };
  const pages = useReadPages("transactions list", filter);
  return (
    <Page
      title="Transactions"
      description="Orders and identity checks of this account, newest first."
      actions={
        <DownloadButton
          read="transactions list"
          input={{ ...filter, limit: LISTED_TRANSACTIONS_MAX }}
          fileName={`transactions-${account}${periodName(period)}.csv`}
          type="text/csv"
          textOf={csvOf}
        >
          Download CSV
        </DownloadButton>
      }
    >
      <FindTransaction
        account={account}
        label="Find by reference"
        description="Ours, your own, or the upstream's"
        button="Find"
        onFound={(reference) => navigate(accountPath(account, "transactions", reference))}
      />
      <Row>
        <NativeSelect
          label="Status"
          data={[ANY, ...transactionStatuses]}
          value={chosen.status}
          onChange={({ currentTarget }) => choose({ status: currentTarget.value })}
        />
        <NativeSelect
          label="Type"
          data={[ANY, ...transactionTypes]}
          value={chosen.type}
          onChange={({ currentTarget }) => choose({ type: currentTarget.value })}
        />
        <NativeSelect
          label="Mode"
          data={[
            { value: "live", label: "Live" },
            { value: "test", label: "Test" },
          ]}
          value={chosen.mode}
          onChange={({ currentTarget }) => choose({ mode: currentTarget.value })}
        />
        <PeriodFields period={period} onChange={setPeriod} />
      </Row>
      <PagedTable
        label="Transactions"
        of={pages}
        rowsOf={({ transactions }) => transactions}
        rowKey={({ reference }) => reference}
        columns={[
          {
            header: "Reference",
            cell: ({ reference }) => <TransactionLink account={account} reference={reference} />,
          },
          { header: "Status", cell: ({ status }) => <TransactionStatusText status={status} /> },
          { header: "Amount", align: "end", cell: ({ amount }) => <Money naira={amount} /> },
          { header: "Created", cell: ({ created_at }) => <Time iso={created_at} /> },
          { header: "Type", cell: ({ type }) => typeText(type) },
          { header: "Phone number", cell: ({ phone_number }) => phone_number ?? "–" },
          { header: "Your reference", cell: ({ caller_reference }) => <Unbroken text={caller_reference ?? "–"} /> },
        ]}
        emptyText={
          pages.hasNextPage
            ? "None among the newest. Show more to look at older ones."
            : "No transaction here. Choose other filters, or a longer period."
        }
      />
    </Page>
  );
};

const COLUMNS = [
  "reference",
  "created_at",
  "updated_at",
  "type",
  "status",
  "amount",
  "description",
  "network",
  "phone_number",
  "caller_reference",
  "upstream_reference",
  "error_code",
] as const;

const csvOf = (pages: readonly ActionOutput<"transactions list">[]): string =>
  [csvRow(COLUMNS), ...pages.flatMap(({ transactions }) => transactions.map(rowOf))].join(CSV_LINE_END);

const rowOf = (transaction: Listed): string =>
  csvRow(COLUMNS.map((name) => (name === "amount" ? nairaDecimals(transaction.amount) : (transaction[name] ?? ""))));
