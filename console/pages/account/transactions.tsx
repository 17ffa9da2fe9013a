import { useLocation } from "wouter";
import * as z from "#zod";
import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { LISTED_TRANSACTIONS_MAX } from "../../../shared/contract/actions/transactions.ts";
import { modeSchema, transactionStatus, transactionType } from "../../../shared/contract/transaction.ts";
import { nairaDecimals } from "../../../shared/contract/values/money.ts";
import { useAccount } from "../../api/use-account.ts";
import { useFilters } from "../../api/use-filters.ts";
import { useReadPages } from "../../api/use-read.ts";
import { Page, Row } from "../../components/page/page.tsx";
import { accountPath } from "../../components/page/page-link.tsx";
import { TestData } from "../../components/page/test-data.tsx";
import { periodError, periodName } from "../../components/period/period.ts";
import { PeriodFields, periodFilters } from "../../components/period/period-fields.tsx";
import { ListCsvButton } from "../../components/table/csv-button.tsx";
import { PagedTable } from "../../components/table/data-table.tsx";
import { FilterSelect } from "../../components/table/filter-select.tsx";
import { FindTransaction } from "../../components/table/find-transaction.tsx";
import { type CsvColumn, localTimeColumn } from "../../components/table/rows-csv.ts";
import { Breakable } from "../../components/values/breakable.tsx";
import { Money } from "../../components/values/money.tsx";
import { TransactionLink } from "../../components/values/record-links.tsx";
import { Time } from "../../components/values/time.tsx";
import {
  TransactionStatusText,
  transactionStatuses,
  transactionTypes,
  typeText,
} from "../../components/values/transaction-values.tsx";

type Listed = ActionOutput<"transactions list">["transactions"][number];

const ANY = { value: "", label: "Any" };

const filterFields = z.object({
  mode: z.catch(modeSchema, "live"),
  status: z.catch(z.optional(transactionStatus), undefined),
  type: z.catch(z.optional(transactionType), undefined),
  ...periodFilters,
});

export const TransactionsPage = () => {
  const account = useAccount();
  const [, navigate] = useLocation();
  const [chosen, choose] = useFilters(filterFields);
  const filter = periodError(chosen) === undefined ? { account, ...chosen } : undefined;
  const pages = useReadPages("transactions list", filter);
  return (
    <Page
      description="Orders and identity checks of this account, newest first."
      actions={
        <ListCsvButton
          name={`transactions-${account}${periodName(chosen)}`}
          list="transactions list"
          input={filter && { ...filter, limit: LISTED_TRANSACTIONS_MAX }}
          rowsOf={(page) => page.transactions}
          columns={csvColumns}
        />
      }
    >
      <FindTransaction
        account={account}
        label="Find by reference"
        description="Ours, the app's, or the upstream's"
        button="Find"
        onFound={(reference) => navigate(accountPath(account, "transactions", reference))}
      />
      <Row>
        <FilterSelect
          label="Status"
          data={[ANY, ...transactionStatuses]}
          value={chosen.status ?? ""}
          onChoose={(status) => choose({ status })}
        />
        <FilterSelect
          label="Type"
          data={[ANY, ...transactionTypes]}
          value={chosen.type ?? ""}
          onChoose={(type) => choose({ type })}
        />
        <FilterSelect
          label="Mode"
          data={[
            { value: "live", label: "Live" },
            { value: "test", label: "Test" },
          ]}
          value={chosen.mode}
          onChoose={(mode) => choose({ mode })}
        />
        <PeriodFields period={chosen} onChange={choose} />
      </Row>
      {chosen.mode === "test" && <TestData />}
      <PagedTable
        label={chosen.mode === "test" ? "Test transactions" : "Transactions"}
        of={pages}
        rowsOf={({ transactions }) => transactions}
        rowKey={({ reference }) => reference}
        amountOf={({ amount }) => amount}
        columns={[
          {
            header: "Reference",
            cell: ({ reference }) => <TransactionLink account={account} reference={reference} />,
          },
          { header: "Status", cell: ({ status }) => <TransactionStatusText status={status} />, sort: "status" },
          { header: "Amount", align: "end", cell: ({ amount }) => <Money naira={amount} />, sort: "amount" },
          { header: "Created", cell: ({ created_at }) => <Time iso={created_at} />, sort: "created_at" },
          { header: "Type", cell: ({ type }) => typeText(type), sort: "type" },
          { header: "Phone number", cell: ({ phone_number }) => phone_number ?? "–" },
          { header: "App's reference", cell: ({ caller_reference }) => <Breakable text={caller_reference ?? "–"} /> },
        ]}
        emptyText="No transaction here. Choose other filters, or a longer period."
      />
    </Page>
  );
};

const csvColumns: readonly CsvColumn<Listed>[] = [
  "reference",
  "created_at",
  localTimeColumn(({ created_at }) => created_at),
  "updated_at",
  "type",
  "status",
  ["amount", ({ amount }) => nairaDecimals(amount)],
  "description",
  "network",
  "phone_number",
  "caller_reference",
  "upstream_reference",
  "error_code",
];
