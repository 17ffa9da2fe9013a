import type * as z from "zod";
import { ServiceError } from "../contract/errors.ts";
import type { upstreamEvent } from "../contract/upstream-event.ts";
import type { ApiMiddleware, Call } from "../lambda/api-handler.ts";
import type { OutcomeQueue } from "../orders/outcome-queue.ts";
import type { KeyedHashes } from "../platform/keyed-hashes.ts";
import { log } from "../platform/log.ts";
import { type Clock, isoTime } from "../platform/time.ts";
import { eventMac, type UnsignedEvent } from "./event-mac.ts";
import { parseEvent } from "./parse-event.ts";

export type ReceiveDeps = {
  readonly outcomeQueue: OutcomeQueue;
  readonly keyedHashes: () => Promise<KeyedHashes>;
  readonly isAuthenticated: boolean;
  readonly clock: Clock;
};

/** POST /webhooks/upstream/{token}: answers 200 only once the queue has the event, or what could be read of it. */
export const receiveUpstreamEvent =
  ({ outcomeQueue, keyedHashes, isAuthenticated, clock }: ReceiveDeps) =>
  async ({ input, deadline }: Pick<Call<z.output<typeof upstreamEvent>>, "input" | "deadline">) => {
    const read = parseEvent(input);
    if (read.kind === "ignored") {
      return { message: "This event needs no action", data: { outcome: "ignored" as const } };
    }
    const keyed = await keyedHashes();
    if (read.kind === "unreadable") {
      const digest = keyed.hashSubject("upstream_event", JSON.stringify(input));
      const { reference, problem } = read;
      const about = reference === undefined ? {} : { reference };
      await outcomeQueue.send({ kind: "unreadable_event", mode: "live", digest, ...about, problem }, 0, deadline);
      return { message: "The event could not be read and is kept", data: { outcome: "accepted" as const } };
    }
    const { reference, status, amountKobo, type, phoneNumber } = read;
    // Whatever its transaction costs, this is another amount.
    if (amountKobo === "unreadable") log.alarm("transaction.amount_differs", { upstream_reference: reference });
    const event: UnsignedEvent = {
      kind: "event",
      mode: "live",
      received_at: isoTime(clock()),
      reference,
      status,
      ...(type !== undefined && { type }),
      ...(amountKobo !== undefined && amountKobo !== "unreadable" && { amount_kobo: amountKobo }),
      ...(phoneNumber !== undefined && {
        phone: { hmac: keyed.hashSubject("phone_number", phoneNumber), masked: masked(phoneNumber) },
      }),
    };
    await outcomeQueue.send(isAuthenticated ? { ...event, mac: eventMac(keyed, event) } : event, 0, deadline);
    return { message: "The event was accepted", data: { outcome: "accepted" as const } };
  };

/**
 * Alarms when an authenticated upstream sends a body that is no JSON object. The event is refused, so that the upstream sends it
 * again; it may have changed its format, and then no event arrives.
 */
export const alarmIfNotJson: ApiMiddleware = {
  onError: ({ error, context: { progress } }) => {
    if (progress !== undefined && error instanceof ServiceError && error.code === "invalid_json") {
      log.alarm("upstream_event.refused", { request_id: progress.requestId });
    }
  },
};

/** `0803****567`: enough for an operator to compare, too little to call. */
const masked = (phoneNumber: string): string => `${phoneNumber.slice(0, 4)}****${phoneNumber.slice(-3)}`;
