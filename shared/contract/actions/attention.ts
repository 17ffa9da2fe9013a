import * as z from "#zod";
import { roles } from "../roles.ts";
import type { ActionTable } from "./action.ts";

/** What waits for a person, counted. The pages of the console count beside their links with it. */
export const attentionActions = {
  attention: {
    scope: "service",
    roles,
    kind: "read",
    input: z.object({}),
    output: z.object({
      /** Live orders and checks that were sent and have no outcome, and how many of them for more than 15 minutes. */
      open_orders: z.int(),
      stuck_orders: z.int(),
      unmatched_events: z.int(),
      queued_orders: z.int(),
      oldest_queued_s: z.nullable(z.int()),
      /** About: SQS counts its messages roughly. */
      messages_given_up: z.int(),
      /** That the person who asks may approve. */
      proposals_to_approve: z.int(),
    }),
    summary: "Count what waits for a person: stuck orders, unmatched events, queued orders, messages given up",
    command: {},
  },
} as const satisfies ActionTable;
