import type * as z from "zod";
import { type FieldErrors, ServiceError } from "../contract/errors.ts";
import { TRANSACTION_UPDATED, type upstreamEvent, upstreamEventData } from "../contract/upstream-event.ts";
import type { Call } from "../platform/api-handler.ts";
import { invalid } from "../platform/api-request.ts";
import { koboFromNairaOrUndefined } from "../platform/money.ts";
import { type Clock, isoTime } from "../platform/time.ts";
import type { Naming } from "../wallet/naming.ts";
import { eventMac, type UnsignedEvent } from "./event-mac.ts";
import type { StatusQueue } from "./status-queue.ts";

export type ReceiveDeps = {
  readonly statusQueue: StatusQueue;
  readonly naming: () => Promise<Naming>;
  readonly isVouchedFor: boolean;
  readonly clock: Clock;
};

/** POST /webhooks/upstream/{token}: answers 200 only once the queue has the event. */
export const receiveStatus =
  ({ statusQueue, naming, isVouchedFor, clock }: ReceiveDeps) =>
  async ({ input, deadline }: Pick<Call<z.output<typeof upstreamEvent>>, "input" | "deadline">) => {
    if (input.event !== TRANSACTION_UPDATED) {
      return { message: "This event is not supported", data: { outcome: "ignored" as const } };
    }
    const { reference, status, amount, type, phone_number } = parseData(input.data);
    const keyed = await naming();
    const amount_kobo = koboFromNairaOrUndefined(amount);
    const event: UnsignedEvent = {
      kind: "event",
      mode: "live",
      received_at: isoTime(clock()),
      reference,
      status,
      type,
      ...(amount_kobo !== undefined && { amount_kobo }),
      ...(phone_number && {
        phone: { hmac: keyed.subject("phone_number", phone_number), masked: masked(phone_number) },
      }),
    };
    await statusQueue.send(isVouchedFor ? { ...event, mac: eventMac(keyed, event) } : event, 0, deadline);
    return { message: "The event was accepted", data: { outcome: "accepted" as const } };
  };

const parseData = (data: unknown): z.output<typeof upstreamEventData> => {
  if (data === undefined) throw new ServiceError("missing_parameter", { fields: { data: ["Is required"] } });
  const parsed = upstreamEventData.safeParse(data);
  if (parsed.success) return parsed.data;
  const fields: FieldErrors = Object.fromEntries(
    parsed.error.issues.map((issue) => [`data.${issue.path.join(".")}`, [issue.message]]),
  );
  throw invalid(fields);
};

/** `0803****567`: enough for an operator to compare, too little to call. */
const masked = (phoneNumber: string): string => `${phoneNumber.slice(0, 4)}****${phoneNumber.slice(-3)}`;
