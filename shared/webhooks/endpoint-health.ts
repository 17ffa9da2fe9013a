import * as z from "#zod";
import type { Account, StoredEndpoint } from "../access/account-store.ts";
import { getItem, getItemsByPk, type OnUnreadable } from "../ledger/get-item.ts";
import type { Table } from "../ledger/ledger.ts";
import { ifVersion, putIf } from "../ledger/put-if.ts";
import { type EndpointKey, endpointHealthPk } from "../ledger/schema.ts";
import { operatorRetries } from "../ledger/transact.ts";

/**
 * What deliveries have shown of an endpoint. It is an item of its own, because `deliver-webhook`, which
 * connects to hosts that owners choose, must not write the account: that says who owns it, and where webhooks go.
 */
export const endpointHealthSchema = z.object({
  pk: z.string(),
  account_id: z.string(),
  endpoint: z.string(),
  /** The endpoint's own when the attempt began. What was found of an earlier one does not count. */
  generation: z.int(),
  /** `off`: nothing is sent until a person enables the endpoint. */
  status: z.enum(["on", "off"]),
  /**
   * Only if attempts have failed since the last success: when the first one did, and the ids of the first different
   * events; see `isDown`.
   */
  failing: z.optional(z.object({ since: z.iso.datetime(), events: z.array(z.string()) })),
  /** Rises with every change. */
  version: z.int(),
});
export type EndpointHealth = z.infer<typeof endpointHealthSchema>;

export const readEndpointHealth = (ledger: Table, endpoint: EndpointKey): Promise<EndpointHealth | undefined> =>
  getItem(ledger, endpointHealthPk(endpoint), endpointHealthSchema);

/**
 * An endpoint is down once this many different events have failed and none was delivered in between. One event that an
 * endpoint cannot handle does not make it down, however often it is tried.
 */
export const DOWN_EVENTS = 3;
export const isDown = (failingEvents: readonly string[] | undefined): boolean =>
  (failingEvents?.length ?? 0) >= DOWN_EVENTS;

/** An endpoint as people set it and as deliveries found it. */
export type EndpointState = StoredEndpoint & Pick<EndpointHealth, "failing">;

export const endpointState = (endpoint: StoredEndpoint, health: EndpointHealth | undefined): EndpointState => {
  if (health?.generation !== endpoint.generation) return endpoint;
  return { ...endpoint, status: endpoint.status === "off" ? "off" : health.status, failing: health.failing };
};

/** The endpoints of these accounts, with their health read strongly, in the order of the accounts. */
export const readEndpointStates = async (
  ledger: Table,
  accounts: readonly Pick<Account, "account_id" | "endpoints">[],
  onUnreadable?: OnUnreadable,
): Promise<readonly (EndpointState & { readonly account_id: string })[]> => {
  const endpoints = accounts.flatMap((account) =>
    account.endpoints.map((endpoint) => {
      const { account_id } = account;
      return { ...endpoint, account_id, pk: endpointHealthPk({ accountId: account_id, endpoint: endpoint.id }) };
    }),
  );
  const pks = endpoints.map(({ pk }) => pk);
  const healthOf = await getItemsByPk(ledger, pks, endpointHealthSchema, onUnreadable);
  return endpoints.map(({ pk, account_id, ...endpoint }) => ({
    ...endpointState(endpoint, healthOf.get(pk)),
    account_id,
  }));
};

export type EndpointFault = {
  readonly account_id: string;
  readonly endpoint: string;
  readonly name: string;
  readonly kind: "down" | "switched_off";
  readonly since: string;
};

/** The endpoints that no person disabled and that webhooks do not reach: how they fail, and since when. */
export const readEndpointFaults = async (
  ledger: Table,
  accounts: readonly Pick<Account, "account_id" | "endpoints">[],
  onUnreadable?: OnUnreadable,
): Promise<readonly EndpointFault[]> => {
  const enabled = accounts.map(({ account_id, endpoints }) => ({
    account_id,
    endpoints: endpoints.filter(({ status }) => status === "on"),
  }));
  return (await readEndpointStates(ledger, enabled, onUnreadable)).flatMap(
    ({ account_id, id, name, status, failing }): EndpointFault[] => {
      if (failing === undefined) return [];
      const fault = { account_id, endpoint: id, name, since: failing.since };
      if (status === "off") return [{ ...fault, kind: "switched_off" }];
      return isDown(failing.events) ? [{ ...fault, kind: "down" }] : [];
    },
  );
};

/** What an attempt shows of an endpoint: it works, or fails since this time, with this event's id. */
export type HealthObservation =
  | { readonly kind: "working" }
  | { readonly kind: "failing"; readonly since: string; readonly event: string; readonly switchOff?: true };

/** The different events that failed, as many as are needed to see that the endpoint is down. */
export const withEvent = (failingEvents: string[], event: string): string[] =>
  isDown(failingEvents) || failingEvents.includes(event) ? failingEvents : [...failingEvents, event];

/**
 * Records whether deliveries to an endpoint fail. Without effect if deliveries switched it off already, or a person set
 * or enabled it since the attempt began. Returns what was written, if the observation changed it.
 */
export const recordEndpointHealth = async (
  ledger: Table,
  { generation, ...key }: EndpointKey & { readonly generation: number },
  observation: HealthObservation,
): Promise<Health | undefined> => {
  const nextAttempt = operatorRetries();
  do {
    const stored = await readEndpointHealth(ledger, key);
    if (stored !== undefined && stored.generation > generation) return undefined;
    const read = stored?.version ?? 0;
    const known = stored?.generation === generation ? stored : HEALTHY;
    const changed = healthAfter(known, observation);
    if (changed === undefined) return undefined;
    const item: EndpointHealth = {
      pk: endpointHealthPk(key),
      account_id: key.accountId,
      endpoint: key.endpoint,
      generation,
      ...changed,
      version: read + 1,
    };
    // Of two concurrent changes the second one reads again instead of undoing the first.
    if (await putIf(ledger, item, ifVersion(read))) return changed;
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
  return { status: observation.switchOff ? "off" : "on", failing: { since, events: failingEvents } };
};
