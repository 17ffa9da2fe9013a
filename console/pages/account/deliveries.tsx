import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { LATEST_DELIVERIES } from "../../../shared/contract/actions/deliveries.ts";
import { useRead } from "../../api/use-read.ts";
import { reasonText } from "../../components/attempt-outcome.ts";
import { CsvButton } from "../../components/csv-button.tsx";
import { DataTable } from "../../components/data-table.tsx";
import { FindTransaction } from "../../components/find-transaction.tsx";
import { Section } from "../../components/page.tsx";
import { accountPath, PageLink } from "../../components/page-link.tsx";
import { Query } from "../../components/query.tsx";
import { Time } from "../../components/time.tsx";
import { DeliveryState, isInFuture } from "./delivery-attempts.tsx";

/** Deliveries change while nobody does anything. */
const REFRESH_MS = 10_000;

type Delivery = ActionOutput<"deliveries list">["deliveries"][number];

type DeliveriesProps = {
  readonly account: string;
  readonly isEndpointDown: boolean;
  readonly onShow: (reference: string) => void;
};

/** The latest deliveries of an account, each with a link to its attempts. */
export const Deliveries = ({ account, isEndpointDown, onShow }: DeliveriesProps) => {
  const deliveries = useRead("deliveries list", { account }, { everyMs: REFRESH_MS });
  return (
    <Section
      title="Deliveries"
      description={`The latest ${LATEST_DELIVERIES}, the newest first. Those of older orders are found by reference.`}
      actions={
        <CsvButton
          name={`deliveries-${account}`}
          rows={deliveries.data?.deliveries}
          columns={[
            "webhook_id",
            "reference",
            "event",
            "status",
            "state",
            "created_at",
            ["attempts", ({ attempts }) => String(attempts.length)],
            ["last_answer", ({ attempts }) => lastAnswer(attempts.at(-1))],
          ]}
        />
      }
    >
      <FindTransaction account={account} label="Reference or webhook id" button="Show attempts" onFound={onShow} />
      <Query of={deliveries}>
        {(data) => (
          <DataTable
            label="Deliveries"
            rows={data.deliveries}
            rowKey={({ webhook_id, repeat }) => `${webhook_id} ${repeat ?? ""}`}
            emptyText="Nothing was sent yet. A webhook is sent when an order becomes final."
            columns={[
              { header: "Order or event", cell: (delivery) => <AttemptsLink account={account} delivery={delivery} /> },
              { header: "Event", cell: ({ event, status }) => (status === null ? event : `${event}, ${status}`) },
              {
                header: "State",
                cell: (delivery) => <StateCell delivery={delivery} isEndpointDown={isEndpointDown} />,
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

/** An event on request has no reference. */
const AttemptsLink = ({
  account,
  delivery: { reference, webhook_id },
}: {
  readonly account: string;
  readonly delivery: Delivery;
}) => {
  const name = reference ?? webhook_id;
  return <PageLink to={`${accountPath(account, "webhook")}?reference=${encodeURIComponent(name)}`}>{name}</PageLink>;
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
  return attempt.http_status === undefined ? reasonText(attempt.outcome) : String(attempt.http_status);
};
