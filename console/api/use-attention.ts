import type { ActionOutput } from "../../shared/contract/actions/actions.ts";
import { useRead } from "./use-read.ts";

const READ_EVERY_MS = 30_000;

/** What waits for a person in the whole service, for people who see it. */
export const useAttention = () => useRead("attention", {}, { everyMs: READ_EVERY_MS });

/** The counts beside the links to pages, by path: what a person has to do there. */
export const attentionCounts = {
  "/open": ({ stuck_orders }) => stuck_orders,
  "/unmatched": ({ unmatched_events }) => unmatched_events,
  "/dead-letters": ({ messages_given_up }) => messages_given_up,
} as const satisfies Readonly<Record<string, (attention: ActionOutput<"attention">) => number>>;
