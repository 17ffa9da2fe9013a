import { isDeepStrictEqual } from "node:util";
import {
  type Account,
  type AccountTable,
  changeAccount,
  requireAccount,
  type StoredEndpoint,
} from "../access/account-store.ts";
import { DAY_MS } from "../contract/values/durations.ts";
import { shownUrl } from "../contract/values/shown-url.ts";
import { ENDPOINTS_MAX, type EndpointEventName, TRANSACTION_UPDATED } from "../contract/webhook-events.ts";
import type { EndpointKey } from "../ledger/schema.ts";
import { NotFoundError, OperatorError } from "../platform/operator-error.ts";
import { seal, sealingKey, unseal } from "../platform/seal.ts";
import type { Secret } from "../platform/secrets.ts";
import { type Clock, isoTime } from "../platform/time.ts";
import { type AddressRules, parseEndpointUrl } from "./address-guard.ts";
import { type EndpointHealth, type EndpointState, endpointState, readEndpointHealth } from "./endpoint-health.ts";
import { newWebhookSecret } from "./signature.ts";

/** How long the previous secret signs beside the new one. */
const ROTATION_MS = DAY_MS;
/** Repeated rotations replace the oldest: each signature adds 48 characters to a header of every webhook. */
const REPLACED_SECRETS_MAX = 4;

/** Over all time: what looks for deliveries reads those of each endpoint that an account ever had. */
const ENDPOINTS_MADE_MAX = 1_000;

/** Endpoints are stored on the accounts. Their webhook secrets are sealed, each bound to its account. */
export type EndpointStore = {
  readonly accounts: AccountTable;
  readonly webhookSealingKey: Secret;
  readonly clock: Clock;
};

/** An endpoint, with its webhook secrets unsealed. */
export type Endpoint = Pick<EndpointState, "id" | "url" | "status" | "generation" | "failing"> & {
  /** The current one, and for 24 hours each that it replaced. */
  readonly secrets: readonly [current: string, ...previous: string[]];
};

/** Undefined if the account has no endpoint with this id. */
export const openEndpoint = async (
  store: EndpointStore,
  { account_id, endpoints }: Account,
  endpointId: string,
  health?: EndpointHealth,
): Promise<Endpoint | undefined> => {
  const endpoint = endpoints.find(({ id }) => id === endpointId);
  return endpoint && unsealEndpoint(store, account_id, endpoint, health);
};

const unsealEndpoint = async (
  { webhookSealingKey, clock }: EndpointStore,
  accountId: string,
  endpoint: StoredEndpoint,
  health?: EndpointHealth,
): Promise<Endpoint> => {
  const { id, url, generation, status, failing } = endpointState(endpoint, health);
  const key = await sealingKey(webhookSealingKey);
  const unsealed = (secret: string): string => unseal(key, accountId, Buffer.from(secret, "base64")).toString("utf8");
  return {
    ...{ id, url, generation, status, failing },
    secrets: [unsealed(endpoint.secret), ...replacedSecrets(endpoint, clock()).map(({ secret }) => unsealed(secret))],
  };
};

/** The replaced secrets that still sign, the newest first. */
const replacedSecrets = ({ replaced_secrets }: StoredEndpoint, nowMs: number): StoredEndpoint["replaced_secrets"] =>
  replaced_secrets.filter(({ until }) => nowMs < Date.parse(until));

/** The endpoint with this id, or the account's only one. Throws if there is none, or if it must be named. */
export const chosenEndpoint = ({ account_id, endpoints }: Account, endpointId: string | undefined): StoredEndpoint => {
  if (endpointId === undefined && endpoints.length > 1) {
    const names = endpoints.map(({ id, name }) => `${id} (${name})`).join(", ");
    throw new OperatorError(`Account ${account_id} has several webhook endpoints: ${names}`, {
      command: "Choose one with --endpoint",
    });
  }
  const endpoint = endpointId === undefined ? endpoints[0] : endpoints.find(({ id }) => id === endpointId);
  if (endpoint !== undefined) return endpoint;
  if (endpointId !== undefined) {
    throw new NotFoundError(`Account ${account_id} has no webhook endpoint ${endpointId}`);
  }
  throw new OperatorError(`Account ${account_id} has no webhook endpoint`, { command: "Set one with webhook set" });
};

/** The chosen endpoint (`chosenEndpoint`) as deliveries find it. */
export const requireEndpoint = async (
  store: EndpointStore,
  accountId: string,
  endpointId?: string,
): Promise<Endpoint> => {
  const { db, ledgerTable } = store.accounts;
  const endpoint = chosenEndpoint(await requireAccount(store.accounts, accountId), endpointId);
  const health = await readEndpointHealth({ db, table: ledgerTable }, { accountId, endpoint: endpoint.id });
  return unsealEndpoint(store, accountId, endpoint, health);
};

/** What people choose of an endpoint; what is absent stays as it is, or has its default. */
export type EndpointChoice = {
  readonly name?: string | undefined;
  /** By default `transaction.updated` alone. */
  readonly events?: readonly EndpointEventName[] | undefined;
};

/** An endpoint as a person saw it, with its URL as `shownUrl` shows it. */
type SeenEndpoint = Readonly<Record<"name" | "url", string | null>> & { readonly status: "on" | "off" | "none" };

export type SetEndpoint = {
  readonly endpoint: StoredEndpoint;
  readonly webhookSecret: string;
  readonly isNewSecret: boolean;
};

/** Adds an endpoint to an account. Events from now on are sent to it. */
export const addEndpoint = (
  store: EndpointStore,
  rules: AddressRules,
  accountId: string,
  url: string,
  choice: EndpointChoice = {},
): Promise<SetEndpoint> => putEndpoint(store, rules, { accountId, url, choice, idOf: () => undefined });

/**
 * Sets the URL of the chosen endpoint (`chosenEndpoint`) and switches it on; of an account without one, adds the first.
 * Resolves with its secret, which is new if the endpoint is. `before`: what the person saw. Another endpoint is not changed:
 * the URL that another person replaced would be back, or the endpoint that they disabled on again.
 */
export const setEndpoint = (
  store: EndpointStore,
  rules: AddressRules,
  accountId: string,
  url: string,
  {
    endpoint,
    before,
    ...choice
  }: EndpointChoice & { readonly endpoint?: string | undefined; readonly before?: SeenEndpoint | undefined } = {},
): Promise<SetEndpoint> =>
  putEndpoint(store, rules, {
    ...{ accountId, url, choice, before },
    idOf: (account) =>
      endpoint === undefined && account.endpoints.length === 0 ? undefined : chosenEndpoint(account, endpoint).id,
  });

type EndpointChange = {
  readonly accountId: string;
  readonly url: string;
  readonly choice: EndpointChoice;
  /** The endpoint that is changed; undefined if one is added. */
  readonly idOf: (account: Account) => string | undefined;
  readonly before?: SeenEndpoint | undefined;
};

const putEndpoint = async (
  store: EndpointStore,
  rules: AddressRules,
  { accountId, url: text, choice, idOf, before }: EndpointChange,
): Promise<SetEndpoint> => {
  const { href: url } = await parseEndpointUrl(text, rules);
  const sealSecret = await createSeal(store, accountId);
  const newSecret = newWebhookSecret();
  const sealedSecret = sealSecret(newSecret);
  const account = await changeAccount(store.accounts, accountId, (found) => {
    const id = idOf(found);
    const same = found.endpoints.find((endpoint) => endpoint.url === url && endpoint.id !== id);
    if (same !== undefined)
      throw new OperatorError(`Endpoint ${same.id} (${same.name}) has this URL`, { field: "url" });
    const change: Partial<StoredEndpoint> = {
      url,
      ...(choice.name !== undefined && { name: choice.name }),
      ...(choice.events !== undefined && { events: [...choice.events] }),
    };
    return id === undefined
      ? withEndpoint(found, sealedSecret, change)
      : withChanged(found, id, (stored) => {
          const isAsWanted = isDeepStrictEqual(stored, { ...stored, ...change, status: "on" });
          if (before !== undefined && !isAsWanted && !isAsSeen(stored, before)) throw changedByAnother();
          return { ...switchedOn(stored), ...change };
        });
  });
  const endpoint = account.endpoints.find((each) => each.url === url);
  if (endpoint === undefined) throw new Error("The endpoint was not stored");
  const [webhookSecret] = (await unsealEndpoint(store, accountId, endpoint)).secrets;
  return { endpoint, webhookSecret, isNewSecret: webhookSecret === newSecret };
};

/** A status that deliveries switched off is not stored with the endpoint: only a person who disabled it counts. */
const isAsSeen = ({ name, url, status }: StoredEndpoint, before: SeenEndpoint): boolean =>
  name === before.name && shownUrl(url) === before.url && !(status === "off" && before.status === "on");

const changedByAnother = (): OperatorError =>
  new OperatorError("Another person has changed the endpoint. Check it and try again");

const withEndpoint = (
  { first_webhook_secret, ...account }: Account,
  sealedSecret: string,
  { url = "", name, events = [TRANSACTION_UPDATED] }: Partial<StoredEndpoint>,
): Account => {
  if (account.endpoints.length >= ENDPOINTS_MAX) {
    throw new OperatorError(
      `Account ${account.account_id} has ${ENDPOINTS_MAX} webhook endpoints, as many as an account can have`,
    );
  }
  if (account.endpoints_made >= ENDPOINTS_MADE_MAX) {
    throw new OperatorError(
      `Account ${account.account_id} has had ${ENDPOINTS_MADE_MAX} webhook endpoints, as many as an account can have: set another URL of one that it has`,
    );
  }
  const endpoints_made = account.endpoints_made + 1;
  const id = String(endpoints_made);
  const added: StoredEndpoint = {
    ...{ id, name: name ?? `Endpoint ${id}`, url, events, status: "on", generation: 0 },
    secret: first_webhook_secret ?? sealedSecret,
    replaced_secrets: [],
  };
  return { ...account, endpoints: [...account.endpoints, added], endpoints_made };
};

const withChanged = (account: Account, id: string, change: (endpoint: StoredEndpoint) => StoredEndpoint): Account => ({
  ...account,
  endpoints: account.endpoints.map((endpoint) => (endpoint.id === id ? change(endpoint) : endpoint)),
});

/**
 * Makes a new webhook secret. The current one also signs for another 24 hours, and so do those that it replaced within
 * the last 24: a rotation may be repeated because its answer was lost, and apps still have the secret before it.
 */
export const rotateWebhookSecret = async (
  store: EndpointStore,
  key: EndpointKey,
): Promise<{ readonly webhookSecret: string; readonly previousUntil: string }> => {
  const sealSecret = await createSeal(store, key.accountId);
  const webhookSecret = newWebhookSecret();
  const nowMs = store.clock();
  const previousUntil = isoTime(nowMs + ROTATION_MS);
  const secret = sealSecret(webhookSecret);
  await changeEndpoint(store, key, (before) => {
    const replaced = [{ secret: before.secret, until: previousUntil }, ...replacedSecrets(before, nowMs)];
    return { ...before, secret, replaced_secrets: replaced.slice(0, REPLACED_SECRETS_MAX) };
  });
  return { webhookSecret, previousUntil };
};

/** Gives an account the webhook secret of its first endpoint, which was made elsewhere. */
export const adoptWebhookSecret = async (store: EndpointStore, accountId: string, secret: string): Promise<void> => {
  const sealSecret = await createSeal(store, accountId);
  await changeAccount(store.accounts, accountId, (found) => ({ ...found, first_webhook_secret: sealSecret(secret) }));
};

/** Stops deliveries until the endpoint is enabled again. Webhooks of that time stay on record and can be sent again. */
export const disableEndpoint = (store: EndpointStore, key: EndpointKey): Promise<void> =>
  changeEndpoint(store, key, (endpoint) => ({ ...endpoint, status: "off" }));

export const enableEndpoint = (store: EndpointStore, key: EndpointKey): Promise<void> =>
  changeEndpoint(store, key, switchedOn);

export const setEndpointEvents = (
  store: EndpointStore,
  key: EndpointKey,
  events: readonly EndpointEventName[],
  before?: readonly string[],
): Promise<void> =>
  changeEndpoint(store, key, (endpoint) => {
    const isAsWanted = isDeepStrictEqual(endpoint.events, events);
    if (before !== undefined && !isAsWanted && !isDeepStrictEqual(endpoint.events, before)) throw changedByAnother();
    return { ...endpoint, events: [...events] };
  });

/** Removes an endpoint with its secret; its deliveries that wait end as `removed`. */
export const removeEndpoint = async (
  { accounts }: EndpointStore,
  { accountId, endpoint }: EndpointKey,
): Promise<void> => {
  await changeAccount(accounts, accountId, (found) => {
    const removed = chosenEndpoint(found, endpoint);
    return { ...found, endpoints: found.endpoints.filter((each) => each !== removed) };
  });
};

/** Ends the failures of an endpoint that works again, unless a person set, enabled or disabled it since. */
export const endEndpointFailures = async (
  { accounts }: EndpointStore,
  { accountId, endpoint: id, generation }: EndpointKey & Pick<Endpoint, "generation">,
): Promise<void> => {
  await changeAccount(accounts, accountId, (found) => {
    const endpoint = found.endpoints.find((each) => each.id === id);
    return endpoint?.generation === generation && endpoint.status === "on"
      ? withChanged(found, id, switchedOn)
      : undefined;
  });
};

/** Without the failures that deliveries have recorded. */
const switchedOn = (endpoint: StoredEndpoint): StoredEndpoint => ({
  ...endpoint,
  status: "on",
  generation: endpoint.generation + 1,
});

const changeEndpoint = async (
  { accounts }: EndpointStore,
  { accountId, endpoint }: EndpointKey,
  change: (endpoint: StoredEndpoint) => StoredEndpoint,
): Promise<void> => {
  await changeAccount(accounts, accountId, (found) => withChanged(found, chosenEndpoint(found, endpoint).id, change));
};

/** Seals webhook secrets of one account. */
const createSeal = async (
  { webhookSealingKey }: EndpointStore,
  accountId: string,
): Promise<(secret: string) => string> => {
  const key = await sealingKey(webhookSealingKey);
  return (secret) => seal(key, accountId, Buffer.from(secret)).toString("base64");
};
