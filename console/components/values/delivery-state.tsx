import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { deliveryStateTexts } from "../../../shared/contract/actions/deliveries.ts";
import { Status } from "./status.tsx";
import type { Tone } from "./tones.ts";

type Delivery = ActionOutput<"deliveries show">["deliveries"][number];

const tones = {
  pending: "running",
  delivered: "good",
  exhausted: "bad",
  switched_off: "bad",
  removed: "bad",
} as const satisfies Record<Delivery["state"], Tone>;

type DeliveryStateProps = {
  readonly delivery: Pick<Delivery, "state"> & Partial<Pick<Delivery, "parked">>;
  /** Only probes are posted to an endpoint that is down. */
  readonly isEndpointDown?: boolean;
};

export const DeliveryState = ({ delivery: { state, parked }, isEndpointDown = false }: DeliveryStateProps) =>
  parked && isEndpointDown ? (
    <Status tone="attention">Waits for the endpoint</Status>
  ) : (
    <Status tone={tones[state]}>{deliveryStateTexts[state]}</Status>
  );
