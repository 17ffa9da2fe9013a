import { nairaDecimals } from "../../../shared/contract/values/money.ts";
import { useRead } from "../../api/use-read.ts";
import { Facts } from "../../components/page/facts.tsx";
import { Page, Section } from "../../components/page/page.tsx";
import { Query } from "../../components/page/query.tsx";
import { CsvButton } from "../../components/table/csv-button.tsx";
import { DataTable } from "../../components/table/data-table.tsx";
import { Money } from "../../components/values/money.tsx";
import { AccountLink, TransactionLink } from "../../components/values/record-links.tsx";
import { Time } from "../../components/values/time.tsx";
import { durationText, sendingText } from "../../components/values/transaction-values.tsx";

const READ_EVERY_MS = 15_000;

export const WaitingPage = () => {
  const waiting = useRead("transactions waiting", {}, { everyMs: READ_EVERY_MS });
  return (
    <Page
      description="Orders beyond the upstream's rate limit. They are debited, are sent at its pace, each account in turn, and are refunded if they wait for too long."
      actions={
        <CsvButton
          name="queued-orders"
          rows={waiting.data?.orders}
          columns={[
            "reference",
            "account_id",
            "created_at",
            ["amount", ({ amount }) => nairaDecimals(amount)],
            "reason",
          ]}
        />
      }
    >
      <Query of={waiting}>
        {({ number, amount, oldest_s, sending_s, accounts, orders }) => (
          <>
            <Facts
              facts={[
                { name: "Orders", value: number },
                ...(orders.length < number ? [{ name: "Listed", value: `The oldest ${orders.length}` }] : []),
                { name: "Amount", value: <Money naira={amount} /> },
                { name: "Oldest", value: oldest_s === null ? undefined : durationText(oldest_s) },
                { name: "Sending them takes", value: sendingText(number, sending_s) },
              ]}
            />
            {number > 0 && (
              <Section title="By account">
                <DataTable
                  label="Queued orders by account"
                  rows={accounts}
                  rowKey={({ account_id }) => account_id}
                  columns={[
                    {
                      header: "Account",
                      cell: ({ account_id }) => <AccountLink account={account_id} />,
                    },
                    { header: "Orders", align: "end", cell: (account) => account.number },
                    { header: "Amount", align: "end", cell: (account) => <Money naira={account.amount} /> },
                  ]}
                  emptyText="None."
                />
              </Section>
            )}
            <DataTable
              label="Queued orders"
              rows={orders}
              rowKey={({ reference }) => reference}
              columns={[
                {
                  header: "Reference",
                  cell: ({ account_id, reference }) => <TransactionLink account={account_id} reference={reference} />,
                },
                { header: "Waits for", align: "end", cell: ({ age_s }) => durationText(age_s), sort: "age_s" },
                { header: "Amount", align: "end", cell: (order) => <Money naira={order.amount} />, sort: "amount" },
                { header: "Reason", cell: ({ reason }) => reasons[reason] },
                {
                  header: "Account",
                  cell: ({ account_id }) => <AccountLink account={account_id} />,
                },
                { header: "Since", cell: ({ created_at }) => <Time iso={created_at} /> },
              ]}
              emptyText="No order waits."
            />
          </>
        )}
      </Query>
    </Page>
  );
};

const reasons = {
  upstream_limit: "The upstream's rate limit",
  refused_by_upstream: "The upstream refused this order",
  account_restricted: "The account is restricted",
} as const;
