import { Button } from "@mantine/core";
import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { useRead } from "../../api/use-read.ts";
import { reasonText } from "../../components/attempt-outcome.ts";
import { ChangeDialog } from "../../components/change-dialog.tsx";
import { Empty } from "../../components/empty.tsx";
import { Facts } from "../../components/facts.tsx";
import { Focused } from "../../components/focused.tsx";
import { Columns, Section } from "../../components/page.tsx";
import { accountPath, PageLink } from "../../components/page-link.tsx";
import { Query } from "../../components/query.tsx";
import { Status } from "../../components/status.tsx";
import { Time } from "../../components/time.tsx";
import styles from "./delivery-attempts.module.css";

type Delivery = ActionOutput<"deliveries show">["deliveries"][number];
type Attempt = Delivery["attempts"][number];

export const deliveryStates = {
  pending: { tone: "running", text: "Waits" },
  parked: { tone: "attention", text: "Waits for the endpoint" },
  delivered: { tone: "good", text: "Delivered" },
  exhausted: { tone: "bad", text: "Given up" },
  switched_off: { tone: "bad", text: "Stopped: endpoint disabled" },
  no_endpoint: { tone: "bad", text: "Not sent: no endpoint" },
} as const;

type AttemptsProps = {
  readonly account: string;
  /** Of an order, or the webhook id of an event on request. */
  readonly reference: string;
  readonly everyMs: number;
  readonly onClose: () => void;
};

/** Every attempt to send the webhook of one order or event, with the headers of request and answer. */
export const Attempts = ({ account, reference, everyMs, onClose }: AttemptsProps) => {
  const shown = useRead("deliveries show", { account, reference }, { everyMs });
  return (
    <Focused subject={reference}>
      <Section
        title={`Attempts of ${reference}`}
        actions={
          <>
            <ChangeDialog
              action="deliveries replay"
              button="Replay"
              subject={reference}
              title={`Send the webhook of ${reference} again`}
              inputOf={(_, why) => ({ account, reference, why })}
              success="The webhook is sent again."
            >
              It has the same webhook id, so an app that has handled it recognises it.
            </ChangeDialog>
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
          {({ deliveries }) =>
            deliveries.length === 0 ? (
              <Empty>Nothing was sent about it. A webhook is sent when an order becomes final.</Empty>
            ) : (
              deliveries.map((delivery) => (
                <OneDelivery key={`${delivery.webhook_id} ${delivery.repeat}`} delivery={delivery} />
              ))
            )
          }
        </Query>
      </Section>
    </Focused>
  );
};

const OneDelivery = ({ delivery }: { readonly delivery: Delivery }) => {
  const { webhook_id, state, parked, repeat, created_at, next_attempt_at, attempts } = delivery;
  const { tone, text } = parked ? deliveryStates.parked : deliveryStates[state];
  return (
    <div className={styles.delivery}>
      <Facts
        facts={[
          { name: "State", value: <Status tone={tone}>{text}</Status> },
          { name: "Webhook id", value: webhook_id },
          { name: repeat === null ? "Created" : "Sent again", value: <Time iso={created_at} /> },
          ...(next_attempt_at === null ? [] : [{ name: "Next attempt", value: <Time iso={next_attempt_at} /> }]),
        ]}
      />
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
  const { number, at, outcome, http_status, duration_ms, request_headers, response_headers } = attempt;
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
    </>
  );
};

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
