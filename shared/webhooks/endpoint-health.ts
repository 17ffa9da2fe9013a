import * as z from "zod";
import type { Account, WebhookField } from "../access/account-store.ts";
import { getItem } from "../ledger/get-item.ts";
import type { Table } from "../ledger/ledger.ts";
import { putIf } from "../ledger/put-if.ts";
import { endpointHealthPk } from "../ledger/schema.ts";
import { operatorRetries } from "../ledger/transact.ts";
import { isDown } from "./next-step.ts";

/**
 * What deliveries have shown of an account's endpoint. It is an item of its own, because `deliver-webhook`, which
 * connects to hosts that owners choose, must not write the account: that says who owns it, and where webhooks go.
 */
export const endpointHealthSchema = z.object({
  pk: z.string(),
  account_id: z.string(),
  /** The one of the account's webhook when the attempt began. What was found of an earlier one does not count. */
  generation: z.int(),
  /** `off`: nothing is sent until a person enables the endpoint. */
  status: z.enum(["on", "off"]),
  /**
   * Only if attempts have failed since the last success: when the first one did, and the ids of the first different
   * events; see `isDown` in next-step.ts.
   */
  failing: z.object({ since: z.iso.datetime(), events: z.array(z.string()) }).optional(),
  /** Rises with every change. */
  version: z.int(),
});
export type EndpointHealth = z.infer<typeof endpointHealthSchema>;

export const readEndpointHealth = (ledger: Table, accountId: string): Promise<EndpointHealth | undefined> =>
  getItem(ledger, endpointHealthPk(accountId), endpointHealthSchema);

/** An endpoint as people set it and as deliveries found it. */
export type EndpointState = Pick<WebhookField, "url" | "generation"> & Pick<EndpointHealth, "status" | "failing">;

/** Undefined if the account never had an endpoint. */
export const endpointState = (
  { webhook }: Pick<Account, "webhook">,
  health: EndpointHealth | undefined,
): EndpointState | undefined => {
  if (webhook === undefined) return undefined;
  const { url, generation, status } = webhook;
  if (health?.generation !== generation) return { url, generation, status };
  return { url, generation, status: status === "off" ? "off" : health.status, failing: health.failing };
};

/** The state of this account's endpoint, with its health read strongly. */
export const readEndpointState = async (ledger: Table, account: Account): Promise<EndpointState | undefined> =>
  endpointState(account, await readEndpointHealth(ledger, account.account_id));

/** What an attempt shows of an endpoint: it works, or fails since this time, with this event's id. */
export type HealthObservation =
  | { readonly kind: "working" }
  | { readonly kind: "failing"; readonly since: string; readonly event: string; readonly switchOff?: true };

/** The different events that failed, as many as are needed to see that the endpoint is down. */
export const withEvent = (failingEvents: readonly string[], event: string): readonly string[] =>
  isDown(failingEvents) || failingEvents.includes(event) ? failingEvents : [...failingEvents, event];

/**
 * Records whether deliveries to an endpoint fail. Without effect if deliveries switched it off already, or a person set
 * or enabled it since the attempt began.
 */
export const recordEndpointHealth = async (
  ledger: Table,
  { accountId, generation }: { readonly accountId: string; readonly generation: number },
  observation: HealthObservation,
): Promise<void> => {
  const nextAttempt = operatorRetries();
  do {
    const stored = await readEndpointHealth(ledger, accountId);
    if (stored !== undefined && stored.generation > generation) return;
    const known = stored?.generation === generation ? stored : HEALTHY;
    const changed = healthAfter(known, observation);
    if (changed === undefined) return;
    const item: EndpointHealth = {
      pk: endpointHealthPk(accountId),
      account_id: accountId,
      generation,
      ...changed,
      version: (stored?.version ?? 0) + 1,
    };
    // Of two concurrent changes the second one reads again instead of undoing the first.
    const isWritten = await putIf(
      ledger,
      item,
      stored === undefined
        ? { ConditionExpression: "attribute_not_exists(pk)" }
        : { ConditionExpression: "version = :read", ExpressionAttributeValues: { ":read": stored.version } },
    );
    if (isWritten) return;
  } while (await nextAttempt());
  throw new Error("The item of an endpoint's health keeps changing");
};

type Health = Pick<EndpointHealth, "status" | "failing">;
const HEALTHY: Health = { status: "on" };

/** Undefined if the observation changes nothing. */
const healthAfter = ({ status, failing }: Health, observation: HealthObservation): Health | undefined => {
  if (status === "off") return undefined;
  if (observation.kind === "working") return failing === undefined ? undefined : HEALTHY;
  // The first failure counts.
  const { since, events } = failing ?? { since: observation.since, events: [] };
  const failingEvents = withEvent(events, observation.event);
  if (failingEvents === events && !observation.switchOff) return undefined;
  return { status: observation.switchOff ? "off" : "on", failing: { since, events: [...failingEvents] } };
};
