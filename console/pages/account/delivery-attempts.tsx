import { Button } from "@mantine/core";
import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { reasonText } from "../../../shared/contract/attempt-outcome.ts";
import { useRead } from "../../api/use-read.ts";
import { ChangeDialog } from "../../components/change/change-dialog.tsx";
import { Empty } from "../../components/page/empty.tsx";
import { Facts } from "../../components/page/facts.tsx";
import { Focused } from "../../components/page/focused.tsx";
import { Columns, Section } from "../../components/page/page.tsx";
import { accountPath, PageLink } from "../../components/page/page-link.tsx";
import { Query } from "../../components/page/query.tsx";
import { DeliveryState } from "../../components/values/delivery-state.tsx";
import { Status } from "../../components/values/status.tsx";
import { isInFuture, Time } from "../../components/values/time.tsx";
import styles from "./delivery-attempts.module.css";
import { endpointName, isDown, recipientsOf } from "./endpoint-name.ts";
import type { Endpoint } from "./endpoint-section.tsx";

type Delivery = ActionOutput<"deliveries show">["deliveries"][number];
type Attempt = Delivery["attempts"][number];

/** When a delivery that waits is attempted next. */
const NextAttempt = ({ delivery: { parked, next_attempt_at }, isEndpointDown }: NextAttemptProps) => {
  if (parked && isEndpointDown) return "When the endpoint accepts an event again";
  return isInFuture(next_attempt_at) ? <Time iso={next_attempt_at} /> : "Within a minute";
};

type NextAttemptProps = {
  readonly delivery: Pick<Delivery, "parked" | "next_attempt_at">;
  readonly isEndpointDown: boolean;
};

type AttemptsProps = {
  readonly account: string;
  /** The account's; undefined while they are unknown. */
  readonly endpoints: readonly Endpoint[] | undefined;
  /** Only the deliveries to this one; a replay is sent to it alone. */
  readonly endpoint: string | undefined;
  /** The reference of an order, or the webhook id of an event on request. */
  readonly reference: string;
  readonly everyMs: number;
  readonly onClose: () => void;
};

/** Every attempt to send the webhook of one order or event, with the headers of request and answer. */
export const Attempts = ({ account, endpoints, endpoint, reference, everyMs, onClose }: AttemptsProps) => {
  const shown = useRead("deliveries show", { account, reference }, { everyMs });
  return (
    <Focused subject={reference}>
      <Section
        title={`Attempts of ${reference}`}
        actions={
          <>
            {recipientsOf(endpoints, endpoint).length > 0 && (
              <ChangeDialog
                action="deliveries replay"
                button="Replay"
                subject={reference}
                title={`Send the webhook of ${reference} again`}
                inputOf={(_, why) => ({ account, reference, why, ...(endpoint !== undefined && { endpoint }) })}
                success={`The webhook of ${reference} is on its way. Its attempt is shown within seconds.`}
              >
                It is sent once now to {endpoint === undefined ? "every endpoint that gets it" : "this endpoint"}, also
                while the endpoint is down. A failure is retried as that of a new webhook. The webhook id is the same,
                so that an app that has handled it recognises it.
              </ChangeDialog>
            )}
            {!reference.startsWith("evt_") && (
              <PageLink to={accountPath(account, "transactions", reference)}>Show the order</PageLink>
            )}
            <Button variant="default" onClick={onClose}>
              Close
            </Button>
          </>
        }
      >
        <Query of={shown}>
          {({ deliveries: all }) => {
            const deliveries = all.filter((each) => endpoint === undefined || each.endpoint === endpoint);
            return deliveries.length === 0 ? (
              <Empty>Nothing was sent about it. A webhook is sent when an order becomes final.</Empty>
            ) : (
              deliveries.map((delivery) => (
                <OneDelivery
                  key={`${delivery.webhook_id} ${delivery.endpoint} ${delivery.repeat}`}
                  delivery={delivery}
                  endpointName={endpointName(endpoints, delivery.endpoint)}
                  isEndpointDown={isDown(endpoints, delivery.endpoint)}
                />
              ))
            );
          }}
        </Query>
      </Section>
    </Focused>
  );
};

type OneDeliveryProps = {
  readonly delivery: Delivery;
  readonly endpointName: string;
  readonly isEndpointDown: boolean;
};

const OneDelivery = ({ delivery, endpointName: to, isEndpointDown }: OneDeliveryProps) => {
  const { webhook_id, state, repeat, created_at, body, attempts } = delivery;
  return (
    <div className={styles.delivery}>
      <Facts
        facts={[
          { name: "State", value: <DeliveryState delivery={delivery} isEndpointDown={isEndpointDown} /> },
          { name: "Endpoint", value: to },
          { name: "Webhook id", value: webhook_id },
          { name: repeat === null ? "Created" : "Sent again", value: <Time iso={created_at} /> },
          ...(state === "pending"
            ? [{ name: "Next attempt", value: <NextAttempt delivery={delivery} isEndpointDown={isEndpointDown} /> }]
            : []),
        ]}
      />
      <Text title="Payload" text={body} />
      {attempts.length > 0 && (
        <ol className={styles.attempts}>
          {attempts.map((attempt) => (
            <li key={attempt.number}>
              <OneAttempt attempt={attempt} />
            </li>
          ))}
        </ol>
      )}
    </div>
  );
};

const OneAttempt = ({ attempt }: { readonly attempt: Attempt }) => {
  const { number, at, outcome, http_status, duration_ms, request_headers, response_headers, response_body } = attempt;
  const isDelivered = outcome === "delivered";
  const answer = http_status === undefined ? reasonText(outcome) : `HTTP ${http_status}`;
  return (
    <>
      <h3 className={styles.title}>
        Attempt {number}: <Status tone={isDelivered ? "good" : "bad"}>{answer}</Status>
      </h3>
      <p className={styles.when}>
        <Time iso={at} />, {duration_ms} ms
        {http_status !== undefined && !["delivered", "status"].includes(outcome) && `, ${reasonText(outcome)}`}
      </p>
      <Columns>
        <Headers title="Request" headers={{ ...request_headers, "webhook-signature": "not shown" }} />
        {!isDelivered && http_status !== undefined && <Headers title="Answer" headers={response_headers ?? {}} />}
      </Columns>
      {response_body !== null && (
        <Text title="Body of the answer" level="h4" text={response_body === "" ? "Empty" : response_body} />
      )}
    </>
  );
};

type TextProps = { readonly title: string; readonly level?: "h3" | "h4"; readonly text: string };

const Text = ({ title, level: Heading = "h3", text }: TextProps) => (
  <div>
    <Heading className={styles.title}>{title}</Heading>
    <pre className={styles.headers}>{text}</pre>
  </div>
);

const Headers = ({
  title,
  headers,
}: {
  readonly title: string;
  readonly headers: Readonly<Record<string, string>>;
}) => (
  <div>
    <h4 className={styles.title}>{title}</h4>
    {Object.keys(headers).length === 0 ? (
      <p className={styles.when}>No headers are on record.</p>
    ) : (
      <pre className={styles.headers}>
        {Object.entries(headers)
          .map(([name, value]) => `${name}: ${value}`)
          .join("\n")}
      </pre>
    )}
  </div>
);
