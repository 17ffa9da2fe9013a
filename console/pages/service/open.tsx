import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { isPurchaseType } from "../../../shared/contract/transaction.ts";
import { nairaDecimals } from "../../../shared/contract/values/money.ts";
import { useRead } from "../../api/use-read.ts";
import { ResolveDialog } from "../../components/change/resolve-dialog.tsx";
import { Facts } from "../../components/page/facts.tsx";
import { Page } from "../../components/page/page.tsx";
import { Query } from "../../components/page/query.tsx";
import { CsvButton } from "../../components/table/csv-button.tsx";
import { DataTable, RowSummary } from "../../components/table/data-table.tsx";
import { type CsvColumn, localTimeColumn } from "../../components/table/rows-csv.ts";
import { Breakable } from "../../components/values/breakable.tsx";
import { Money } from "../../components/values/money.tsx";
import { AccountLink, TransactionLink } from "../../components/values/record-links.tsx";
import { Status } from "../../components/values/status.tsx";
import { Time } from "../../components/values/time.tsx";
import { ageText, durationText } from "../../components/values/transaction-values.tsx";

type Open = ActionOutput<"transactions open">["transactions"][number];

const READ_EVERY_MS = 15_000;

export const OpenPage = () => {
  const open = useRead("transactions open", {}, { everyMs: READ_EVERY_MS });
  return (
    <Page
      description="Live orders and checks that were sent and have no outcome yet, oldest first. Most end by themselves; look into what is stuck."
      actions={<CsvButton name="open-orders" rows={open.data?.transactions} columns={csvColumns} />}
    >
      <Query of={open}>
        {({ number, stuck, transactions }) => (
          <>
            <Facts
              facts={[
                { name: "Open", value: number },
                { name: "Stuck", value: stuck },
              ]}
            />
            <RowSummary rows={transactions} amountOf={({ amount }) => amount} hasMore={transactions.length < number} />
            <DataTable
              label="Open orders"
              rows={transactions}
              rowKey={({ reference }) => reference}
              columns={[
                {
                  header: "Reference",
                  cell: ({ account_id, reference, phone_number, upstream_reference }) => (
                    <>
                      <TransactionLink account={account_id} reference={reference} />
                      {phone_number !== null && <div>{phone_number}</div>}
                      {upstream_reference !== null && (
                        <div>
                          Upstream: <Breakable text={upstream_reference} />
                        </div>
                      )}
                    </>
                  ),
                },
                { header: "State", cell: (transaction) => <OpenState transaction={transaction} /> },
                {
                  header: "Resolve",
                  hidesHeader: true,
                  cell: ({ reference, amount, mode, sending, type }) => (
                    <ResolveDialog
                      reference={reference}
                      amount={amount}
                      mode={mode}
                      sending={sending}
                      canSucceed={isPurchaseType(type)}
                      isListed
                    />
                  ),
                },
                {
                  header: "Who is on it",
                  cell: ({ taken }) => (taken === null ? "–" : <Breakable text={taken.by} />),
                  sort: ({ taken }) => taken?.by,
                },
                { header: "Amount", align: "end", cell: ({ amount }) => <Money naira={amount} />, sort: "amount" },
                {
                  header: "Account",
                  cell: ({ account_id }) => <AccountLink account={account_id} />,
                },
                {
                  header: "Created",
                  cell: ({ created_at }) => (
                    <>
                      <Time iso={created_at} />
                      <div>{ageText(created_at)} ago</div>
                    </>
                  ),
                  sort: "created_at",
                },
              ]}
              emptyText="Nothing is open."
            />
          </>
        )}
      </Query>
    </Page>
  );
};

const csvColumns: readonly CsvColumn<Open>[] = [
  "reference",
  "account_id",
  "created_at",
  localTimeColumn(({ created_at }) => created_at),
  "type",
  ["amount", ({ amount }) => nairaDecimals(amount)],
  "network",
  "phone_number",
  "caller_reference",
  "upstream_reference",
  "stuck",
  ["taken_by", ({ taken }) => taken?.by ?? ""],
];

const OpenState = ({ transaction: { stuck, in_flight_ms } }: { readonly transaction: Open }) => {
  if (stuck) return <Status tone="bad">Stuck</Status>;
  if (in_flight_ms === 0) return <Status tone="neutral">Open</Status>;
  return (
    <>
      <Status tone="running">In flight</Status>
      <div>for up to {durationText(Math.ceil(in_flight_ms / 1_000))}</div>
    </>
  );
};
