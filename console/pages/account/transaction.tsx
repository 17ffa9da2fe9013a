import { useRoute } from "wouter";
import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { useAccount } from "../../api/use-account.ts";
import { useRead } from "../../api/use-read.ts";
import { DataTable } from "../../components/data-table.tsx";
import { Facts } from "../../components/facts.tsx";
import { KeptWhileOpen } from "../../components/kept-while-open.tsx";
import { Money } from "../../components/money.tsx";
import { Page, Section } from "../../components/page.tsx";
import { accountPath, PageLink } from "../../components/page-link.tsx";
import { Query } from "../../components/query.tsx";
import { ResolveDialog } from "../../components/resolve-dialog.tsx";
import { Time } from "../../components/time.tsx";
import { TransactionStatusText, typeText } from "../../components/transaction-values.tsx";

type Shown = ActionOutput<"transactions show">;

export const TransactionPage = () => {
  const account = useAccount();
  const [, params] = useRoute("/accounts/:account/transactions/:reference");
  const reference = params?.reference ?? "";
  const transaction = useRead("transactions show", { account, reference });
  const { data } = transaction;
  return (
    <Page
      title={data?.reference ?? reference}
      description={<PageLink to={accountPath(account, "transactions")}>All transactions</PageLink>}
      actions={
        data !== undefined && (
          <KeptWhileOpen isShown={data.status === "processing" && data.mode === "live"}>
            <ResolveDialog reference={data.reference} amount={data.amount} canSucceed={isPurchase(data)} />
          </KeptWhileOpen>
        )
      }
    >
      <Query of={transaction}>
        {(shown) => (
          <>
            <Section title="Transaction">
              <TransactionFacts transaction={shown} />
            </Section>
            <Section title="What happened" description="Status changes, webhooks and decisions, oldest first.">
              <History history={shown.history} />
            </Section>
          </>
        )}
      </Query>
    </Page>
  );
};

const isPurchase = ({ type }: Shown): boolean => type === "data" || type === "airtime";

const TransactionFacts = ({ transaction }: { readonly transaction: Shown }) => (
  <Facts
    facts={[
      { name: "Status", value: <TransactionStatusText status={transaction.status} /> },
      { name: "Type", value: typeText(transaction.type) },
      { name: "Amount", value: <Money naira={transaction.amount} /> },
      { name: "Description", value: transaction.description },
      { name: "Phone number", value: transaction.phone_number },
      { name: "Network", value: transaction.network },
      { name: "Mode", value: transaction.mode === "live" ? "Live" : "Test" },
      { name: "Your reference", value: transaction.caller_reference },
      { name: "Upstream reference", value: transaction.upstream_reference },
      { name: "Error code", value: transaction.error_code },
      { name: "Waiting", value: transaction.wait },
      { name: "Unknown outcome", value: transaction.unknown_outcome },
      { name: "Created", value: <Time iso={transaction.created_at} /> },
      { name: "Last change", value: <Time iso={transaction.updated_at} /> },
    ]}
  />
);

/** The entries have no ids: their places name them. */
const History = ({ history }: { readonly history: Shown["history"] }) => (
  <DataTable
    label="What happened"
    rows={history.map((entry, place) => ({ ...entry, place }))}
    rowKey={({ place }) => String(place)}
    columns={[
      { header: "Time", cell: ({ at }) => <Time iso={at} /> },
      { header: "What", cell: ({ what }) => what },
      { header: "Details", cell: ({ details }) => details },
    ]}
    emptyText="Nothing is recorded."
  />
);
