import { Button } from "@mantine/core";
import { useRoute } from "wouter";
import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { adviceHeadings, lookupFindingTexts } from "../../../shared/contract/actions/transactions.ts";
import { isPurchaseType } from "../../../shared/contract/transaction.ts";
import { counted } from "../../../shared/contract/values/counted.ts";
import { MINUTE_MS } from "../../../shared/contract/values/durations.ts";
import { useAccount } from "../../api/use-account.ts";
import { usePerson } from "../../api/use-person.ts";
import { useRead } from "../../api/use-read.ts";
import { ChangeDialog } from "../../components/change/change-dialog.tsx";
import { ResolveDialog } from "../../components/change/resolve-dialog.tsx";
import { ShownWhileOpen } from "../../components/change/shown-while-open.tsx";
import { Facts } from "../../components/page/facts.tsx";
import { Notice } from "../../components/page/notice.tsx";
import { Page, Section } from "../../components/page/page.tsx";
import { accountPath, PageLink } from "../../components/page/page-link.tsx";
import { Query } from "../../components/page/query.tsx";
import { TestData } from "../../components/page/test-data.tsx";
import { DataTable } from "../../components/table/data-table.tsx";
import { entryPreview, entrySentence } from "../../components/values/amount.ts";
import { CopyText } from "../../components/values/copy-text.tsx";
import { Money } from "../../components/values/money.tsx";
import { isInFuture, RecordTime, Time } from "../../components/values/time.tsx";
import { TransactionStatusText, typeText } from "../../components/values/transaction-values.tsx";

const READ_EVERY_MS = 10_000;
/** For how long after its end the page follows an order: its webhook is on the way. */
const FOLLOWED_MS = 10 * MINUTE_MS;

type Shown = ActionOutput<"transactions show">;

export const TransactionPage = () => {
  const account = useAccount();
  const [, params] = useRoute("/accounts/:account/transactions/:reference");
  const reference = params?.reference ?? "";
  const transaction = useRead(
    "transactions show",
    { account, reference },
    { everyMs: READ_EVERY_MS, followed: isFollowed },
  );
  const { data } = transaction;
  return (
    <Page
      title={data?.reference ?? reference}
      description={
        <>
          {data !== undefined && (
            <>
              <TransactionStatusText status={data.status} /> {data.description}, <Money naira={data.amount} />.{" "}
            </>
          )}
          <PageLink to={accountPath(account, "transactions")}>All transactions</PageLink>
        </>
      }
      actions={
        data !== undefined && (
          <>
            <ShownWhileOpen isShown={isOpen(data) && data.taken === null}>
              <Take reference={data.reference} />
            </ShownWhileOpen>
            <ShownWhileOpen isShown={isOpen(data) && data.can_ask}>
              <AskUpstream reference={data.reference} />
            </ShownWhileOpen>
            <ShownWhileOpen isShown={isOpen(data)}>
              <ResolveDialog
                reference={data.reference}
                amount={data.amount}
                mode={data.mode}
                sending={data.sending}
                canSucceed={isPurchaseType(data.type)}
              />
            </ShownWhileOpen>
            <ShownWhileOpen isShown={data.can_refund}>
              <Refund transaction={data} />
            </ShownWhileOpen>
            <Note reference={data.reference} />
            <Button variant="default" size="xs" onClick={() => print()}>
              Print
            </Button>
          </>
        )
      }
    >
      <Query of={transaction}>
        {(shown) => (
          <>
            {shown.mode === "test" && <TestData />}
            {shown.taken !== null && <Taken {...shown.taken} />}
            <Section title="In plain words">
              <Advice transaction={shown} />
            </Section>
            <Section title="Transaction">
              <TransactionFacts transaction={shown} />
            </Section>
            <Section title="Every step" description="Oldest first, in the stage's time and in UTC.">
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
    buttonSize="xs"
    title={`Ask the upstream for ${reference}`}
    inputOf={(_, why) => ({ reference, why })}
    success="The upstream is asked within a minute. Its answer is shown here."
  >
    The service reads what the upstream has of this order. A definite answer settles the order; nothing is sent again.
  </ChangeDialog>
);

const isFollowed = ({ status, updated_at }: Shown): boolean =>
  status === "processing" || Date.parse(updated_at) > Date.now() - FOLLOWED_MS;

const Taken = ({ by, at }: NonNullable<Shown["taken"]>) => {
  const isOwn = usePerson().by === by;
  return (
    <Notice
      tone="attention"
      title={
        isOwn ? (
          "You are on it"
        ) : (
          <>
            <bdi>{by}</bdi> is on it
          </>
        )
      }
    >
      Since <Time iso={at} />.{!isOwn && " Ask them before you call the upstream or resolve it."}
    </Notice>
  );
};

const Take = ({ reference }: { readonly reference: string }) => (
  <ChangeDialog
    action="transactions take"
    button="I am on it"
    buttonVariant="filled"
    buttonSize="xs"
    title={`Take ${reference}`}
    inputOf={(_, why) => ({ reference, why })}
    success="The order is marked as yours for 30 minutes."
  >
    Other operators see for 30 minutes that you are on it, so that two people do not call the upstream about one order.
  </ChangeDialog>
);

const Note = ({ reference }: { readonly reference: string }) => (
  <ChangeDialog
    action="transactions note"
    button="Add a note"
    buttonSize="xs"
    title={`Add a note to ${reference}`}
    fields={{ note: { kind: "longText", label: "Note", description: "Without phone numbers, NIN or BVN." } }}
    inputOf={({ note }) => ({ reference, note })}
    success="The note was added."
  >
    The account's owners read it too. It cannot be changed or removed.
  </ChangeDialog>
);

const Refund = ({ transaction: { account_id, reference, amount } }: { readonly transaction: Shown }) => (
  <ChangeDialog
    action="transactions refund"
    button="Refund"
    buttonSize="xs"
    title={`Refund ${reference}`}
    nameToType={null}
    balanceOf={account_id}
    preview={(_, balance) => entryPreview(String(amount), balance)}
    inputOf={(_, why = "") => ({ reference, why })}
    success={entrySentence}
    ifUnknown="It is safe to submit it again: an order is refunded once."
  >
    For an order that did not arrive although the upstream said so. Its status stays success; the statement has an
    adjustment that names it. This cannot be undone.
  </ChangeDialog>
);

const isOpen = ({ status, mode }: Shown): boolean => status === "processing" && mode === "live";

const Advice = ({ transaction: shown }: { readonly transaction: Shown }) => (
  <Facts
    facts={shown.advice.map(({ about, text }) => ({
      name: adviceHeadings[about],
      isWide: true,
      value: <AdviceText about={about} text={text} shown={shown} />,
    }))}
  />
);

type AdviceTextProps = Shown["advice"][number] & { readonly shown: Shown };

const AdviceText = ({ about, text, shown: { wait_until, next_question_at, in_flight_until } }: AdviceTextProps) => {
  if (about === "customer") return <CopyText text={text} label="for the customer" />;
  return (
    <>
      {about === "wait" && wait_until !== null && (
        <>
          <Time iso={wait_until} />.{" "}
        </>
      )}
      {about === "resolve" && in_flight_until !== null && (
        <>
          Not before <Time iso={in_flight_until} />.{" "}
        </>
      )}
      {text}
      {about === "wait" && next_question_at !== null && (
        <>
          {" "}
          The upstream is asked for it <NextQuestion at={next_question_at} />.
        </>
      )}
    </>
  );
};

/** A run sends the question, and runs begin each minute. */
const NextQuestion = ({ at }: { readonly at: string }) =>
  isInFuture(at) ? (
    <>
      at <Time iso={at} />
    </>
  ) : (
    "within a minute"
  );

const TransactionFacts = ({ transaction }: { readonly transaction: Shown }) => (
  <Facts
    facts={[
      { name: "Type", value: typeText(transaction.type) },
      { name: "Phone number", value: transaction.phone_number },
      { name: "Network", value: transaction.network },
      { name: "Mode", value: transaction.mode === "live" ? "Live" : "Test" },
      { name: "App's reference", value: transaction.caller_reference },
      { name: "Upstream reference", value: transaction.upstream_reference },
      // Few orders have them.
      ...[
        { name: "Error code", value: transaction.error_code },
        { name: "Queued", value: transaction.wait },
        { name: "Unknown outcome", value: transaction.unknown_outcome },
        { name: "The upstream's last answer", value: transaction.lookup && <LastAnswer {...transaction.lookup} /> },
      ].filter(({ value }) => value !== null),
      { name: "Created", value: <Time iso={transaction.created_at} /> },
      { name: "Last change", value: <Time iso={transaction.updated_at} /> },
    ]}
  />
);

const LastAnswer = ({ asked_at, asked, finding, details }: NonNullable<Shown["lookup"]>) => (
  <>
    {lookupFindingTexts[finding]}
    {details !== null && ` (${details})`}, <Time iso={asked_at} />, asked {counted(asked, "time")}
  </>
);

/** The entries have no ids: their places name them. */
const History = ({ history }: { readonly history: Shown["history"] }) => (
  <DataTable
    label="Every step"
    rows={history.map((entry, place) => ({ ...entry, place }))}
    rowKey={({ place }) => String(place)}
    columns={[
      { header: "Time", cell: ({ at }) => <RecordTime iso={at} /> },
      { header: "Step", cell: ({ what }) => what },
      { header: "Details", cell: ({ details }) => details },
    ]}
    emptyText="Nothing is recorded."
  />
);
