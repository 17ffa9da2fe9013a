import type { ActionOutput } from "../../shared/contract/actions/actions.ts";
import { Status } from "./status.tsx";

type Delivery = ActionOutput<"deliveries show">["deliveries"][number];

const deliveryStates = {
  pending: { tone: "running", text: "Waits" },
  delivered: { tone: "good", text: "Delivered" },
  exhausted: { tone: "bad", text: "Given up" },
  switched_off: { tone: "bad", text: "Stopped: endpoint disabled" },
  removed: { tone: "bad", text: "Not sent: endpoint removed" },
} as const;

const waitsForEndpoint = { tone: "attention", text: "Waits for the endpoint" } as const;

type DeliveryStateProps = {
  readonly delivery: Pick<Delivery, "state"> & Partial<Pick<Delivery, "parked">>;
  /** Only probes are posted to an endpoint that is down. */
  readonly isEndpointDown?: boolean;
};

export const DeliveryState = ({ delivery: { state, parked }, isEndpointDown = false }: DeliveryStateProps) => {
  const { tone, text } = parked && isEndpointDown ? waitsForEndpoint : deliveryStates[state];
  return <Status tone={tone}>{text}</Status>;
};
