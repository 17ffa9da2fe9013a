import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { LATEST_DELIVERIES } from "../../../shared/contract/actions/deliveries.ts";
import { dateIn } from "../../../shared/contract/values/time-zone.ts";

type Endpoint = Pick<ActionOutput<"webhook list">["endpoints"][number], "failing_since">;
type Delivery = Pick<ActionOutput<"deliveries list">["deliveries"][number], "state" | "created_at">;

/**
 * The day on which endpoints began to fail, or on which the first delivery was created that was given up. `latest` are the
 * newest first. Undefined without a failure, and if deliveries of days before the latest ones may have failed too: an endpoint
 * that was enabled again does not know since when it had failed.
 */
export const firstFailureDay = (
  endpoints: readonly Endpoint[],
  latest: readonly Delivery[],
  timeZone: string,
): string | undefined => {
  const dayOf = (time: string): string => dateIn(Date.parse(time), timeZone);
  const failing = endpoints.flatMap(({ failing_since }) => (failing_since === null ? [] : [dayOf(failing_since)]));
  const givenUp = latest
    .filter(({ state }) => state === "exhausted" || state === "switched_off")
    .map(({ created_at }) => dayOf(created_at));
  const oldest = latest[LATEST_DELIVERIES - 1];
  const mayBeEarlier = failing.length === 0 && oldest !== undefined && givenUp.includes(dayOf(oldest.created_at));
  return mayBeEarlier ? undefined : [...failing, ...givenUp].sort()[0];
};
