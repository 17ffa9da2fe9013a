import { useSearchParams } from "wouter";
import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { LATEST_DELIVERIES } from "../../../shared/contract/actions/deliveries.ts";
import { reasonText } from "../../../shared/contract/attempt-outcome.ts";
import { usePerson } from "../../api/use-person.ts";
import { useRead } from "../../api/use-read.ts";
import { ChangeDialog } from "../../components/change/change-dialog.tsx";
import { Section } from "../../components/page/page.tsx";
import { accountPath } from "../../components/page/page-link.tsx";
import { Query } from "../../components/page/query.tsx";
import { CsvButton } from "../../components/table/csv-button.tsx";
import { DataTable } from "../../components/table/data-table.tsx";
import { FindTransaction } from "../../components/table/find-transaction.tsx";
import { DeliveryState } from "../../components/values/delivery-state.tsx";
import { eventText } from "../../components/values/event-text.ts";
import { ReferenceLink } from "../../components/values/record-links.tsx";
import { isInFuture, Time } from "../../components/values/time.tsx";
import { statusText } from "../../components/values/transaction-values.tsx";
import { createStore } from "../../store.ts";
import { Attempts } from "./delivery-attempts.tsx";
import { endpointName, isDown, recipientsOf } from "./endpoint-name.ts";
import type { Endpoint } from "./endpoint-section.tsx";
import { firstFailureDay } from "./first-failure-day.ts";

/** Deliveries change without an action of the person, so the page reads them again. */
const REFRESH_MS = 10_000;
/** Those of one order take less to read, and a person waits for them after a replay. */
const ATTEMPTS_REFRESH_MS = 3_000;

type Delivery = ActionOutput<"deliveries list">["deliveries"][number];

type DeliveriesProps = {
  readonly account: string;
  /** The account's; undefined while they are unknown. */
  readonly endpoints: readonly Endpoint[] | undefined;
  /** Only the deliveries to this one. */
  readonly endpoint?: string;
};

/** The latest deliveries of an account, each with a link to its attempts; above them the attempts of one. */
export const Deliveries = ({ account, endpoints, endpoint }: DeliveriesProps) => {
  const [search, setSearch] = useSearchParams();
  const reference = search.get("reference");
  const show = (shown: string | undefined) => setSearch(shown === undefined ? {} : { reference: shown });
  return (
    <>
      {reference !== null && (
        <Attempts
          account={account}
          endpoints={endpoints}
          endpoint={endpoint}
          reference={reference}
          everyMs={ATTEMPTS_REFRESH_MS}
          onClose={() => show(undefined)}
        />
      )}
      <LatestDeliveries account={account} endpoints={endpoints} endpoint={endpoint} onShow={show} />
    </>
  );
};

type LatestDeliveriesProps = {
  readonly account: string;
  readonly endpoints: readonly Endpoint[] | undefined;
  readonly endpoint: string | undefined;
  readonly onShow: (reference: string) => void;
};

const LatestDeliveries = ({ account, endpoints, endpoint, onShow }: LatestDeliveriesProps) => {
  const { time_zone: timeZone } = usePerson();
  const one = endpoint === undefined ? {} : { endpoint };
  const deliveries = useRead("deliveries list", { account, ...one }, { everyMs: REFRESH_MS });
  const recipients = recipientsOf(endpoints, endpoint);
  return (
    <Section
      title="Deliveries"
      description={`The latest ${LATEST_DELIVERIES}, newest first. Find those of older orders by reference.`}
      actions={
        <>
          {recipients.length > 0 && (
            <Recover
              account={account}
              endpoint={endpoint}
              failedSince={firstFailureDay(recipients, deliveries.data?.deliveries ?? [], timeZone)}
            />
          )}
          <CsvButton
            name={`deliveries-${account}`}
            rows={deliveries.data?.deliveries}
            columns={[
              "webhook_id",
              "endpoint",
              "reference",
              "event",
              "status",
              "state",
              "created_at",
              ["attempts", ({ attempts }) => String(attempts.length)],
              ["last_answer", ({ attempts }) => lastAnswer(attempts.at(-1))],
            ]}
          />
        </>
      }
    >
      <FindTransaction
        account={account}
        label="Reference or webhook id"
        button="Show attempts"
        referenceOf={(typed) => referenceOf(deliveries.data?.deliveries ?? [], typed)}
        onFound={onShow}
      />
      <Query of={deliveries}>
        {(data) => (
          <DataTable
            label="Deliveries"
            rows={data.deliveries}
            rowKey={({ webhook_id, endpoint: of, repeat }) => `${webhook_id} ${of} ${repeat ?? ""}`}
            emptyText="Nothing was sent yet. A webhook is sent when an order becomes final."
            columns={[
              {
                header: "Order or event",
                cell: (delivery) => <AttemptsLink account={account} endpoint={endpoint} delivery={delivery} />,
              },
              ...(endpoint === undefined
                ? [{ header: "Endpoint", cell: (each: Delivery) => endpointName(endpoints, each.endpoint) }]
                : []),
              {
                header: "Event",
                cell: ({ event, status }) =>
                  status === null ? eventText(event) : `${eventText(event)}: ${statusText(status)}`,
              },
              {
                header: "State",
                cell: (delivery) => (
                  <StateCell delivery={delivery} isEndpointDown={isDown(endpoints, delivery.endpoint)} />
                ),
              },
              { header: "Attempts", align: "end", cell: ({ attempts }) => attempts.length },
              { header: "Last answer", cell: ({ attempts }) => lastAnswer(attempts.at(-1)) },
              { header: "Created", cell: ({ created_at }) => <Time iso={created_at} /> },
            ]}
          />
        )}
      </Query>
    </Section>
  );
};

const WEBHOOK_ID = /^evt_[0-9a-f]{32}$/;

/**
 * What has the webhook with this id: its order, or the id itself. Attempts are found by either; the id of an order's webhook
 * is known of the latest ones only.
 */
const referenceOf = (latest: readonly Delivery[], id: string): string | undefined => {
  if (!WEBHOOK_ID.test(id)) return undefined;
  return latest.find(({ webhook_id }) => webhook_id === id)?.reference ?? id;
};

type RecoverProps = {
  readonly account: string;
  readonly endpoint: string | undefined;
  /** A date. */
  readonly failedSince: string | undefined;
};

/**
 * Where replaying goes on, by account and endpoint: a day may have more deliveries than a request can read, so the next one
 * begins at a time. It is kept after its page was left: from the day on, what was sent would be sent once more.
 */
const nextFrom = createStore<Readonly<Record<string, string | null>>>({});

const Recover = ({ account, endpoint, failedSince }: RecoverProps) => {
  const key = `${account} ${endpoint}`;
  const next = nextFrom.useValue()[key] ?? null;
  return (
    <ChangeDialog
      action="deliveries recover"
      button="Replay all failed"
      buttonVariant="default"
      title="Send all failed webhooks again"
      fields={{
        from:
          next === null
            ? {
                kind: "date",
                label: "Since the beginning of",
                ...(failedSince !== undefined && {
                  initial: failedSince,
                  description: "The day of the first failure that is known.",
                }),
              }
            : { kind: "text", label: "Since", initial: next },
      }}
      inputOf={({ from }, why) => ({ account, from, why, ...(endpoint !== undefined && { endpoint }) })}
      success={({ recovered, next_from }) =>
        `${recovered} ${recovered === 1 ? "webhook is" : "webhooks are"} on the way.${next_from === null ? "" : ` There are more since ${next_from}: replay again from that time.`}`
      }
      onDone={({ next_from }) => nextFrom.replace({ ...nextFrom.read(), [key]: next_from })}
    >
      Each webhook that was given up or met a disabled endpoint is sent to {endpoint === undefined ? "that" : "this"}{" "}
      endpoint again under its webhook id. While the endpoint is down they wait for it. A webhook that waits for its
      first attempt after an earlier replay is sent twice.
    </ChangeDialog>
  );
};

/** An event on request has no reference. */
const AttemptsLink = ({
  account,
  endpoint,
  delivery: { reference, webhook_id },
}: {
  readonly account: string;
  readonly endpoint: string | undefined;
  readonly delivery: Delivery;
}) => {
  const name = reference ?? webhook_id;
  const path = accountPath(account, "webhooks", ...(endpoint === undefined ? [] : [endpoint]));
  return <ReferenceLink to={`${path}?reference=${encodeURIComponent(name)}`} reference={name} />;
};

const StateCell = ({ delivery, isEndpointDown }: { readonly delivery: Delivery; readonly isEndpointDown: boolean }) => (
  <>
    <DeliveryState delivery={delivery} isEndpointDown={isEndpointDown} />
    {delivery.repeat !== null && " sent again"}
    {isInFuture(delivery.next_attempt_at) && !(delivery.parked && isEndpointDown) && (
      <>
        {" "}
        until <Time iso={delivery.next_attempt_at} />
      </>
    )}
  </>
);

const lastAnswer = (attempt: Delivery["attempts"][number] | undefined): string => {
  if (attempt === undefined) return "–";
  return attempt.http_status === undefined ? reasonText(attempt.outcome) : `HTTP ${attempt.http_status}`;
};
