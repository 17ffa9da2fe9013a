import type { ActionOutput } from "../../shared/contract/actions/actions.ts";
import { MINUTE_MS } from "../../shared/contract/values/durations.ts";
import { usePerson } from "./use-person.ts";
import { useRead } from "./use-read.ts";

const READ_EVERY_MS = 30_000;

/** What waits for a person in the whole service, for people who see it. */
export const useAttention = () => useRead("attention", {}, { everyMs: READ_EVERY_MS });

/** All checks together read more. */
const CHECK_EVERY_MS = MINUTE_MS;

/** What the checks of Doctor find, for people who may see them. */
export const useChecks = () => {
  const { may } = usePerson();
  return useRead("doctor", {}, { everyMs: CHECK_EVERY_MS, enabled: may("doctor") });
};

/** Pages beside whose links a check of Doctor counts, by path. */
export const checkCounts = { "/accounts": "wallets", "/float": "float" } as const;

/** The counts beside the links to pages, by path: what a person has to do there. */
export const attentionCounts = {
  "/open": ({ stuck_orders }) => stuck_orders,
  "/unmatched": ({ unmatched_events }) => unmatched_events,
  "/proposals": ({ proposals_to_approve }) => proposals_to_approve,
  "/dead-letters": ({ messages_given_up }) => messages_given_up,
} as const satisfies Readonly<Record<string, (attention: ActionOutput<"attention">) => number>>;
