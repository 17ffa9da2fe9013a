import type * as z from "#zod";
import type { Call } from "../call/call.ts";
import type { upstreamEvent } from "../contract/upstream-event.ts";
import { loggableReference } from "../contract/values/mask-phones.ts";
import { comparablePhone } from "../ledger/masked-transaction.ts";
import type { UnreadableMessage } from "../orders/outcome-message.ts";
import type { OutcomeQueue } from "../orders/outcome-queue.ts";
import type { KeyedHashes } from "../platform/keyed-hashes.ts";
import { log } from "../platform/log.ts";
import { type Clock, isoTime } from "../platform/time.ts";
import type { UpstreamProfile } from "../upstream/profile.ts";
import { eventMac, type UnsignedEvent } from "./event-mac.ts";
import { parseEvent } from "./parse-event.ts";

export type ReceiveDeps = {
  readonly profile: UpstreamProfile;
  readonly outcomeQueue: OutcomeQueue;
  readonly keyedHashes: () => Promise<KeyedHashes>;
  /** Whether the admission checks more than the path token. */
  readonly isAuthenticated: boolean;
  readonly clock: Clock;
};

/** POST /webhooks/upstream/{token}: responds with 200 only once the queue has the event, or the readable part of it. */
export const receiveUpstreamEvent =
  ({ profile, outcomeQueue, keyedHashes, isAuthenticated, clock }: ReceiveDeps) =>
  async ({ input, deadline }: Pick<Call<z.output<typeof upstreamEvent>>, "input" | "deadline">) => {
    // Before the key is read, which may take seconds: an order that is sent in them is no candidate for the event.
    const received_at = isoTime(clock());
    const parsed = parseEvent(profile, input);
    if (parsed.kind === "ignored") {
      return { message: "This event needs no action", data: { outcome: "ignored" as const } };
    }
    const hashes = await keyedHashes();
    if (parsed.kind === "unreadable") {
      const { upstreamReference, problem } = parsed;
      const message: UnreadableMessage = {
        kind: "unreadable_event",
        mode: "live",
        digest: hashes.valueHash("upstream_event", JSON.stringify(input)),
        ...(upstreamReference !== undefined && { reference: upstreamReference }),
        problem,
      };
      await outcomeQueue.send(message, 0, deadline);
      return { message: "The event could not be read and is kept", data: { outcome: "accepted" as const } };
    }
    const { upstreamReference, status, amountKobo, type, phoneNumber } = parsed;
    // An amount that cannot be read differs from every price.
    if (amountKobo === "unreadable") {
      log.alarm("transaction.amount_differs", { upstream_reference: loggableReference(upstreamReference) });
    }
    const event: UnsignedEvent = {
      kind: "event",
      mode: "live",
      received_at,
      reference: upstreamReference,
      status,
      ...(type !== undefined && { type }),
      ...(amountKobo !== undefined && amountKobo !== "unreadable" && { amount_kobo: amountKobo }),
      ...(phoneNumber !== undefined && {
        phone: { key: hashes.phoneKey(phoneNumber), masked: comparablePhone(phoneNumber) },
      }),
    };
    await outcomeQueue.send(isAuthenticated ? { ...event, mac: eventMac(hashes, event) } : event, 0, deadline);
    return { message: "The event was accepted", data: { outcome: "accepted" as const } };
  };
