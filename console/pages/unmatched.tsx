import { Button, NativeSelect } from "@mantine/core";
import { type ReactNode, useContext, useEffect, useRef, useState } from "react";
import { useSearchParams } from "wouter";
import * as z from "zod";
import type { ActionOutput } from "../../shared/contract/actions/actions.ts";
import { useRead } from "../api/use-read.ts";
import { ChangeDialog } from "../components/change-dialog.tsx";
import { DataTable } from "../components/data-table.tsx";
import { Empty } from "../components/empty.tsx";
import { Facts } from "../components/facts.tsx";
import { HoldRowContext } from "../components/held-row.ts";
import { IrreversibleDialog } from "../components/irreversible-dialog.tsx";
import { Money } from "../components/money.tsx";
import { Notice } from "../components/notice.tsx";
import { Page, Row, Section } from "../components/page.tsx";
import { accountPath, PageLink } from "../components/page-link.tsx";
import { Query } from "../components/query.tsx";
import { Status } from "../components/status.tsx";
import { Time } from "../components/time.tsx";
import { durationText } from "../components/transaction-values.tsx";
import styles from "./unmatched.module.css";

type UpstreamEvent = ActionOutput<"events list">["events"][number];
type Comparison = ActionOutput<"events candidates">;
type Candidate = Comparison["candidates"][number];

const stateSchema = z.enum(["open", "matched", "discarded", "all"]);

const reasons = {
  contradiction: "It contradicts the final status of its order",
  unauthenticated: "It reports a failure, and nothing proves that the upstream sent it",
  no_candidate: "No open order fits",
  several_candidates: "Several open orders fit",
  unknown_failure: "It reports the failure of an unknown order",
  unreadable: "It could not be read",
} as const;

const states = {
  open: { tone: "attention", text: "Waits for a decision" },
  matched: { tone: "good", text: "Matched" },
  discarded: { tone: "neutral", text: "Discarded" },
} as const;

export const UnmatchedPage = () => {
  const [search, setSearch] = useSearchParams();
  const state = stateSchema.catch("open").parse(search.get("state"));
  const shown = search.get("event");
  const events = useRead("events list", { state });
  return (
    <Page
      title="Unmatched events"
      description="Reports of the upstream that could not be applied. Each needs a decision: which order it is about, or none."
    >
      {shown !== null && <Compare event={shown} onClose={() => setSearch({ state })} />}
      <Row>
        <NativeSelect
          label="Show"
          value={state}
          data={[
            { value: "open", label: "Those that wait for a decision" },
            { value: "matched", label: "Matched" },
            { value: "discarded", label: "Discarded" },
            { value: "all", label: "All" },
          ]}
          onChange={({ currentTarget }) => setSearch({ state: currentTarget.value })}
        />
      </Row>
      <Query of={events}>
        {(data) => (
          <DataTable
            label="Events"
            rows={data.events}
            rowKey={({ event }) => event}
            emptyText={
              state === "open" ? "No event waits for a decision." : "There is none. Choose another state to see others."
            }
            columns={[
              {
                header: "Upstream reference",
                cell: ({ event, upstream_reference }) => (
                  <PageLink to={`/unmatched?${new URLSearchParams({ state, event })}`}>
                    {upstream_reference ?? event}
                  </PageLink>
                ),
              },
              { header: "Reports", cell: (event) => event.says },
              { header: "Why it is here", cell: ({ reason }) => reasons[reason] },
              { header: "Type", cell: (event) => event.type ?? "–" },
              { header: "Amount", align: "end", cell: ({ amount }) => amountText(amount) },
              { header: "Phone number", cell: (event) => event.phone_number ?? "–" },
              { header: "Received", cell: ({ at }) => <Time iso={at} /> },
              ...(state === "all"
                ? [{ header: "State", cell: (event: UpstreamEvent) => <EventState event={event} /> }]
                : []),
            ]}
          />
        )}
      </Query>
    </Page>
  );
};

const EventState = ({ event: { state } }: { readonly event: UpstreamEvent }) => (
  <Status tone={states[state].tone}>{states[state].text}</Status>
);

const amountText = (naira: number | null): ReactNode => (naira === null ? "–" : <Money naira={naira} />);

/** An event beside the orders that it may be about. */
const Compare = ({ event: id, onClose }: { readonly event: string; readonly onClose: () => void }) => {
  const compared = useRead("events candidates", { event: id });
  const place = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: The focus follows what is shown.
  useEffect(() => place.current?.focus(), [id]);
  return (
    <div ref={place} tabIndex={-1} className={styles.place}>
      <Section
        title="The event and the orders that it may be about"
        actions={
          <Button variant="default" onClick={onClose}>
            Close
          </Button>
        }
      >
        <Query of={compared}>{(data) => <HeldComparison data={data} />}</Query>
      </Section>
    </div>
  );
};

/**
 * The comparison, unchanged while one of its dialogs is open: after somebody else's decision the dialog would vanish,
 * together with why it failed.
 */
const HeldComparison = ({ data }: { readonly data: Comparison }) => {
  const [isHeld, setIsHeld] = useState(false);
  const shown = useRef(data);
  if (!isHeld) shown.current = data;
  return (
    <HoldRowContext value={setIsHeld}>
      <Comparison {...shown.current} />
    </HoldRowContext>
  );
};

const Comparison = ({ event, candidates }: Comparison) => (
  <>
    <Facts
      facts={[
        { name: "Event", value: event.event },
        { name: "State", value: <EventState event={event} /> },
        { name: "Why it is here", value: reasons[event.reason] },
        { name: "Received", value: <Time iso={event.at} /> },
      ]}
    />
    {candidates.length === 0 ? <NoCandidate event={event} /> : <SideBySide event={event} candidates={candidates} />}
    {event.state === "open" && (
      <Row>
        {event.reason !== "unreadable" && <MatchOther event={event} />}
        <Discard event={event} />
      </Row>
    )}
  </>
);

const NoCandidate = ({ event }: { readonly event: UpstreamEvent }) => (
  <Empty>
    {event.reason === "unreadable"
      ? "An event that cannot be read is applied to no order. If you know its order, resolve that among the open orders, then discard the event."
      : "No order that was sent before the event is open. Ask the upstream what the reference is about."}
  </Empty>
);

type FieldRow = {
  readonly name: string;
  /** As differences name it. */
  readonly field?: string;
  readonly event: ReactNode;
  readonly of: (candidate: Candidate) => ReactNode;
};

const rowsOf = (event: UpstreamEvent): readonly FieldRow[] => [
  { name: "Type", field: "type", event: event.type ?? "–", of: ({ type }) => type },
  {
    name: "Amount",
    field: "amount",
    event: amountText(event.amount),
    of: ({ amount }) => <Money naira={amount} />,
  },
  {
    name: "Phone number",
    field: "phone number",
    event: event.phone_number ?? "–",
    of: ({ phone_number }) => phone_number ?? "–",
  },
  { name: "Network", event: "–", of: ({ network }) => network ?? "–" },
  { name: "Status", event: event.says, of: ({ status }) => status },
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
    of: ({ account_id }) => <PageLink to={accountPath(account_id)}>{account_id}</PageLink>,
  },
];

const SideBySide = ({ event, candidates }: Comparison) => {
  // Rows stay by themselves: what a dialog has to hold is the comparison.
  const hold = useContext(HoldRowContext);
  return (
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
              <HoldRowContext value={hold}>
                <Match event={event} candidate={candidate} />
              </HoldRowContext>
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
};

const effectOf = ({ says }: UpstreamEvent): string =>
  says === "failed" ? "as failed, which refunds it" : "as delivered";

const Match = ({ event, candidate }: { readonly event: UpstreamEvent; readonly candidate: Candidate }) => {
  const { reference, differences, status } = candidate;
  if (event.state !== "open") return null;
  if (status !== "processing") return `It is ${status}, which is final`;
  const common = {
    action: "events match",
    button: "Match",
    subject: reference,
    title: `Match the event to ${reference}`,
    nameToType: reference,
    success: `${reference} was settled as the event says.`,
  } as const;
  const effect = `The order is settled ${effectOf(event)}, and its app hears of it.`;
  if (differences.length === 0) {
    return (
      <IrreversibleDialog {...common} inputOf={(_, why = "") => ({ event: event.event, reference, why })}>
        {effect}
      </IrreversibleDialog>
    );
  }
  return (
    <IrreversibleDialog
      {...common}
      fields={{ accepts_differences: acceptsDifferences }}
      inputOf={({ accepts_differences }, why = "") => ({ event: event.event, reference, accepts_differences, why })}
    >
      <Notice tone="attention" title={`They differ in ${differences.map(({ field }) => field).join(" and ")}`}>
        {differences
          .map((one) => `${one.field}: ${one.event} in the event, ${one.transaction} in the order`)
          .join("; ")}
        .
      </Notice>
      {effect}
    </IrreversibleDialog>
  );
};

const acceptsDifferences = { kind: "check", label: "Match them although they differ" } as const;

/** For an order that is not among the candidates. */
const MatchOther = ({ event }: { readonly event: UpstreamEvent }) => (
  <ChangeDialog
    action="events match"
    button="Match another order"
    buttonVariant="default"
    title="Match the event to another order"
    nameToType={event.event}
    fields={{
      reference: { kind: "text", label: "Reference of the order" },
      accepts_differences: acceptsDifferences,
    }}
    inputOf={({ reference, accepts_differences }, why = "") => ({
      event: event.event,
      reference: reference.trim(),
      accepts_differences,
      why,
    })}
    success={({ reference }) => `${reference} was settled as the event says.`}
  >
    The order is settled {effectOf(event)}, and its app hears of it.
  </ChangeDialog>
);

const Discard = ({ event }: { readonly event: UpstreamEvent }) => (
  <IrreversibleDialog
    action="events discard"
    button="Discard"
    subject={event.upstream_reference ?? event.event}
    title="Discard the event"
    nameToType={event.event}
    inputOf={(_, why = "") => ({ event: event.event, why })}
    success="The event was discarded."
  >
    The event is closed without an effect on any order.
  </IrreversibleDialog>
);
