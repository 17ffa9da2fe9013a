import { useRoute } from "wouter";
import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { adviceHeadings } from "../../../shared/contract/actions/transactions.ts";
import { useAccount } from "../../api/use-account.ts";
import { useRead } from "../../api/use-read.ts";
import { ChangeDialog } from "../../components/change-dialog.tsx";
import { CopyText } from "../../components/copy-text.tsx";
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

/** The page follows the order by itself. */
const READ_EVERY_MS = 10_000;

type Shown = ActionOutput<"transactions show">;

export const TransactionPage = () => {
  const account = useAccount();
  const [, params] = useRoute("/accounts/:account/transactions/:reference");
  const reference = params?.reference ?? "";
  const transaction = useRead("transactions show", { account, reference }, { everyMs: READ_EVERY_MS });
  const { data } = transaction;
  return (
    <Page
      title={data?.reference ?? reference}
      description={<PageLink to={accountPath(account, "transactions")}>All transactions</PageLink>}
      actions={
        data !== undefined && (
          <KeptWhileOpen isShown={data.status === "processing" && data.mode === "live"}>
            {data.can_ask && <AskUpstream reference={data.reference} />}
            <ResolveDialog reference={data.reference} amount={data.amount} canSucceed={isPurchase(data)} />
          </KeptWhileOpen>
        )
      }
    >
      <Query of={transaction}>
        {(shown) => (
          <>
            <Section title="In plain words">
              <Advice transaction={shown} />
            </Section>
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

const AskUpstream = ({ reference }: { readonly reference: string }) => (
  <ChangeDialog
    action="transactions ask"
    button="Ask the upstream now"
    buttonVariant="default"
    buttonSize="xs"
    title={`Ask the upstream for ${reference}`}
    inputOf={(_, why) => ({ reference, why })}
    success="The upstream is asked within a minute. Its answer is shown here."
  >
    The service reads what the upstream has of this order. A definite answer settles the order; nothing is sent again.
  </ChangeDialog>
);

const isPurchase = ({ type }: Shown): boolean => type === "data" || type === "airtime";

const Advice = ({ transaction: { advice, wait_until } }: { readonly transaction: Shown }) => (
  <Facts
    facts={advice.map(({ about, text }) => ({
      name: adviceHeadings[about],
      isWide: true,
      value: <AdviceText about={about} text={text} waitUntil={wait_until} />,
    }))}
  />
);

type AdviceTextProps = Shown["advice"][number] & { readonly waitUntil: string | null };

const AdviceText = ({ about, text, waitUntil }: AdviceTextProps) => {
  if (about === "customer") return <CopyText text={text} label="what to tell the customer" />;
  if (about !== "wait" || waitUntil === null) return text;
  return (
    <>
      <Time iso={waitUntil} />. {text}
    </>
  );
};

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
      { name: "The upstream's last answer", value: transaction.lookup && <LastAnswer {...transaction.lookup} /> },
      { name: "Created", value: <Time iso={transaction.created_at} /> },
      { name: "Last change", value: <Time iso={transaction.updated_at} /> },
    ]}
  />
);

const findings = {
  success: "It was delivered",
  failed: "It failed",
  open: "It has not ended",
  not_found: "The upstream does not know it. It may still be on its way",
  another_order: "The answer is about another order",
  incomplete: "The answer lacks a field",
  unclear: "There was no clear answer",
} as const;

const LastAnswer = ({ asked_at, asked, finding, details, next_at }: NonNullable<Shown["lookup"]>) => (
  <>
    {findings[finding]}
    {details !== null && ` (${details})`}, <Time iso={asked_at} />, question {asked}
    {next_at !== null && (
      <>
        . Next question: <Time iso={next_at} />
      </>
    )}
  </>
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
