import * as z from "#zod";
import { type ActionTable, changeInput, serviceChange, serviceRead } from "./action.ts";
import { endedCount } from "./statistics.ts";

/** The hours of `recent`, this one included. */
export const RECENT_HOURS = 3;

/** The upstream's health and limit. */
export const upstreamActions = {
  "upstream show": {
    ...serviceRead,
    input: z.object({}),
    output: z.object({
      catalog: z.object({
        /** When the upstream last accepted a key and sent the catalog; null if it never did. */
        fetched_at: z.nullable(z.iso.datetime()),
      }),
      /** For what no order gets through, until one is accepted: our key, address or balance, or the connection. */
      refusals: z.array(
        z.object({
          /** `vtu`: purchases. */
          group: z.enum(["vtu", "identity"]),
          /** Such as `status_401` or `upstream_balance`. */
          reason: z.string(),
          /** The first order, and the last one. */
          since: z.iso.datetime(),
          refused_at: z.iso.datetime(),
        }),
      ),
      /** As the functions have noted it: whether an order is sent at once or waits depends on it. */
      limit: z.object({
        /** Orders that the upstream takes in a minute, with all of the service's keys. */
        per_minute: z.int(),
        /** Until then new orders wait; null if they are sent at once. */
        spent_until: z.nullable(z.iso.datetime()),
      }),
      waiting: z.object({
        count: z.int(),
        oldest_s: z.nullable(z.int()),
        /** About how long it takes to send them all; null while purchases are off. */
        sending_s: z.nullable(z.int()),
      }),
      /** Live orders whose end is not known yet. */
      open: z.object({
        count: z.int(),
        /** Open for more than 15 minutes. */
        stuck: z.int(),
        /** Since when the oldest of them has been without an outcome: one that waited, since it was sent. */
        oldest_at: z.nullable(z.iso.datetime()),
      }),
      /** About: what ended in this hour and the hours before. */
      recent: z.object({ latency_bounds_ms: z.array(z.int()), counts: z.array(endedCount) }),
    }),
    summary: "Show how the upstream has answered lately, its limit, and what waits for it",
    command: "none",
  },
  "upstream probe": {
    ...serviceChange,
    input: changeInput,
    output: z.object({
      /** Nothing was found. */
      ok: z.boolean(),
      checks: z.array(
        z.object({
          request: z.string(),
          result: z.enum(["accepted", "refused", "unclear"]),
          /** The HTTP status; null without an answer. */
          status: z.nullable(z.int()),
          /** How the service takes the answer, and what the upstream says. */
          answer: z.string(),
        }),
      ),
      /** What is not as the profile says, or as the service needs it. */
      findings: z.array(z.string()),
      /** The entries of `upstreamProfile` that the answers speak for, as JSON; null if they say too little. */
      proposed: z.nullable(z.string()),
    }),
    summary: "Find out with the upstream's test key what it accepts, and which profile fits it",
    command: {},
  },
} as const satisfies ActionTable;
