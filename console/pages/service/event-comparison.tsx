import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { eventReasonTexts } from "../../../shared/contract/event-reasons.ts";
import { useRead } from "../../api/use-read.ts";
import { UnchangedWhileOpen } from "../../components/change/unchanged-while-open.tsx";
import { Empty } from "../../components/page/empty.tsx";
import { Facts } from "../../components/page/facts.tsx";
import { Focused } from "../../components/page/focused.tsx";
import { Row, Section } from "../../components/page/page.tsx";
import { accountPath, PageLink, runbookPath } from "../../components/page/page-link.tsx";
import { Query } from "../../components/page/query.tsx";
import { DataTable } from "../../components/table/data-table.tsx";
import { Money } from "../../components/values/money.tsx";
import { AccountLink } from "../../components/values/record-links.tsx";
import { Status } from "../../components/values/status.tsx";
import { Time } from "../../components/values/time.tsx";
import { durationText, TransactionStatusText, typeText } from "../../components/values/transaction-values.tsx";
import {
  amountText,
  EventState,
  Reported,
  reportedTypeText,
  type UpstreamEvent,
} from "../../components/values/upstream-event-values.tsx";
import { Discard, Match, MatchOther } from "./event-decisions.tsx";

type Comparison = ActionOutput<"events candidates">;
type Candidate = Comparison["candidates"][number];

/** An event beside the orders that it may be about. */
export const EventComparison = ({ event: id, onClose }: { readonly event: string; readonly onClose: () => void }) => {
  const compared = useRead("events candidates", { event: id });
  return (
    <Focused subject={id}>
      <Section
        title="The event and the orders that it may be about"
        actions={
          <Button variant="default" onClick={onClose}>
            Close
          </Button>
        }
      >
        <Query of={compared}>
          {(data) => <UnchangedWhileOpen value={data}>{(shown) => <Comparison {...shown} />}</UnchangedWhileOpen>}
        </Query>
      </Section>
    </Focused>
  );
};

const Comparison = ({ event, candidates }: Comparison) => (
  <>
    <Facts
      facts={[
        { name: "Event", value: event.event },
        { name: "State", value: <EventState event={event} /> },
        { name: "Why it is here", value: eventReasonTexts[event.reason] },
        { name: "Received", value: <Time iso={event.at} /> },
        { name: "What to do", value: <PageLink to={runbookPath(runbookOf(event))}>{runbookOf(event)}</PageLink> },
      ]}
    />
    {candidates.length === 0 ? <NoCandidate event={event} /> : <SideBySide event={event} candidates={candidates} />}
    {event.state === "open" && (
      <Row>
        {reportsStatus(event) && event.reason !== "contradiction" && <MatchOther event={event} />}
        <Discard event={event} />
      </Row>
    )}
  </>
);

/** The section of the runbook about it. */
const runbookOf = ({ reason }: UpstreamEvent): string => {
  if (reason === "contradiction") return "Event contradicts a final status";
  return reason === "unreadable" ? "Unreadable event" : "Unmatched event";
};

/** Without a status nothing can be matched. */
const reportsStatus = ({ reason }: UpstreamEvent): boolean => reason !== "unreadable" && reason !== "not_found";

const NoCandidate = ({ event }: { readonly event: UpstreamEvent }) => (
  <Empty>
    {!reportsStatus(event)
      ? "An event that cannot be read is applied to no order. If you know its order, resolve that among the open orders, then discard the event."
      : "No order that was sent before the event is open. Ask the upstream what the reference is about."}
  </Empty>
);

type FieldRow = {
  readonly name: string;
  /** The name of the field in differences. */
  readonly field?: string;
  readonly event: ReactNode;
  readonly of: (candidate: Candidate) => ReactNode;
};

const rowsOf = (event: UpstreamEvent): readonly FieldRow[] => [
  {
    name: "Order",
    event: "–",
    of: ({ account_id, reference }) => (
      <PageLink to={accountPath(account_id, "transactions", reference)}>Show the order</PageLink>
    ),
  },
  { name: "Type", field: "type", event: reportedTypeText(event), of: ({ type }) => typeText(type) },
  {
    name: "Amount",
    field: "amount",
    event: amountText(event.amount),
    of: ({ amount, expected_amount }) => (
      <>
        <Money naira={expected_amount} />
        {amount !== expected_amount && (
          <>
            {" "}
            (price <Money naira={amount} />)
          </>
        )}
      </>
    ),
  },
  {
    name: "Phone number",
    field: "phone number",
    event: event.phone_number ?? "–",
    of: ({ phone_number }) => phone_number ?? "–",
  },
  { name: "Network", event: "–", of: ({ network }) => network ?? "–" },
  {
    name: "Status",
    event: <Reported event={event} />,
    of: ({ status }) => <TransactionStatusText status={status} />,
  },
  {
    name: "Upstream reference",
    event: event.upstream_reference ?? "–",
    of: ({ upstream_reference }) => upstream_reference ?? "not known",
  },
  {
    name: "Time",
    event: <Time iso={event.at} />,
    of: ({ sent_before_s: seconds }) =>
      `${durationText(Math.abs(seconds))} ${seconds < 0 ? "after" : "before"} the event`,
  },
  {
    name: "Account",
    event: "–",
    of: ({ account_id }) => <AccountLink account={account_id} />,
  },
];

const SideBySide = ({ event, candidates }: Comparison) => (
  <DataTable
    label="The event and the orders that it may be about"
    rows={[...rowsOf(event), undefined]}
    rowKey={(row) => row?.name ?? "decision"}
    emptyText=""
    columns={[
      { header: "Field", cell: (row) => row?.name ?? "Decision" },
      { header: "Event", cell: (row) => row?.event },
      ...candidates.map((candidate) => ({
        header: candidate.reference,
        cell: (row: FieldRow | undefined) =>
          row === undefined ? (
            <Match event={event} candidate={candidate} />
          ) : (
            <>
              {row.of(candidate)}
              {candidate.differences.some(({ field }) => field === row.field) && (
                <>
                  {" "}
                  <Status tone="attention">differs</Status>
                </>
              )}
            </>
          ),
      })),
    ]}
  />
);
