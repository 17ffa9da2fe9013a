import * as z from "#zod";
import { CONFLICT_REASON, cancelled, conflictAnswer, NO_REASON, throttlingAnswer } from "./answers.ts";
import type { WireAnswer } from "./wire.ts";

/** What a test has happen to one call. */
export const wireFaults = [
  /** It is refused for now, without an effect. */
  "throttled",
  /** Another transaction held the item, without an effect. The emulator never says so by itself. */
  "conflict",
  /** It has no effect, and no answer comes. */
  "never_arrives",
  /** It takes effect, and its answer does not come. */
  "answer_lost",
  /** Its answer does not come, and it takes effect when the test says so. */
  "lands_late",
] as const;
export type WireFault = (typeof wireFaults)[number];

const transaction = z.object({ TransactItems: z.array(z.unknown()) });

/** How DynamoDB refuses a call without an effect. The last item of a transaction is the one that is held. */
export const refusalOf = (fault: "throttled" | "conflict", operation: string, body: string): WireAnswer => {
  if (fault === "throttled") return throttlingAnswer;
  if (operation !== "TransactWriteItems") return conflictAnswer;
  const items = transaction.parse(JSON.parse(body)).TransactItems;
  return cancelled(items.map((_, position) => (position === items.length - 1 ? CONFLICT_REASON : NO_REASON)));
};
