import * as z from "#zod";
import { type ActionTable, changeInput, serviceChange, serviceRead } from "./action.ts";

const redrivable = z
  .enum(["outcomes", "delivery"])
  .register(z.globalRegistry, { description: "outcomes, of orders; or delivery, of webhooks" });

/** How many messages one `redrive` moves. */
export const REDRIVE_MAX = 50;

/** What a message is, where it is no event of an endpoint. Another release may have others. */
export type DeadLetterKind =
  | ("settlement" | "void" | "wait" | "event" | "unreadable_event" | "answer")
  | ("changes" | "run" | "unknown");

/** Messages that were given up. */
export const deadLettersActions = {
  "dead-letters list": {
    ...serviceRead,
    input: z.object({}),
    output: z.object({
      queues: z.array(
        z.object({
          /** `stream`: changes of the ledger. `schedules`: runs of scheduled functions. Neither can be moved back. */
          queue: z.enum([...redrivable.options, "stream", "schedules"]),
          /** About. */
          number: z.int(),
          /** The age of the oldest message among those below; null if there is none. */
          oldest_s: z.nullable(z.int()),
          /** At most 10 of them. Their bodies may hold personal data, so they are not shown. */
          messages: z.array(
            z.object({
              id: z.string(),
              kind: z.string(),
              /** The reference or the id of what it is about. */
              about: z.nullable(z.string()),
              sent_at: z.iso.datetime(),
              why: z.string(),
            }),
          ),
        }),
      ),
    }),
    summary: "Show the messages that were given up, without their contents",
    command: {
      table: { rows: "queues", columns: ["queue", "number", "oldest_s: oldest, in seconds"] },
      note: "With --json: up to ten messages of each queue, and what they are about.",
    },
  },
  "dead-letters redrive": {
    ...serviceChange,
    irreversible: true,
    input: z.extend(changeInput, { queue: redrivable }),
    output: z.object({
      queue: redrivable,
      moved: z.int(),
      /** Whether a further call may find more. */
      may_have_more: z.boolean(),
    }),
    summary: `Move up to ${REDRIVE_MAX} messages that were given up back to their queue`,
    command: { takes: { queue: "<queue>" }, example: 'outcomes --why "the cause is fixed, ticket 98"' },
  },
} as const satisfies ActionTable;
