import { createHmac } from "node:crypto";
import { anOrder, BUY_DATA, type TestService } from "../service/service.ts";

/** A request of the upstream's webhook. */
export type UpstreamEvent = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

/** Buys something that stays open; this is the event that it was delivered. */
export const anUpstreamEvent = async (service: TestService): Promise<UpstreamEvent> => {
  const { key } = await service.newCaller();
  const phoneNumber = "08000000004";
  await service.call("POST", BUY_DATA, { key, body: anOrder({ phone_number: phoneNumber }) });
  const { upstreamReference: reference } = service.simulator.state.purchases.at(-1) ?? {};
  const { url = "", secret = "" } = service.simulator.state.webhook ?? {};
  const data = { reference, status: "success", amount: 500, type: "data", phone_number: phoneNumber };
  const body = JSON.stringify({ event: "transaction.updated", data });
  const signature = createHmac("sha256", secret).update(body).digest("hex");
  return { url, headers: { "content-type": "application/json", "x-webhook-signature": signature }, body };
};
