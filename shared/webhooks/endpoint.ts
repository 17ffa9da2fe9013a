import {
  type Account,
  type AccountTable,
  changeAccount,
  requireAccount,
  type WebhookField,
} from "../access/account-store.ts";
import { seal, sealingKey, unseal } from "../platform/seal.ts";
import type { Secret } from "../platform/secrets.ts";
import { type Clock, isoTime } from "../platform/time.ts";
import { type AddressRules, EndpointUrlError, parseEndpointUrl } from "./address-guard.ts";
import { type EndpointHealth, endpointState, readEndpointHealth } from "./endpoint-health.ts";
import { newWebhookSecret } from "./signature.ts";

/** How long the previous secret signs beside the new one. */
const ROTATION_MS = 24 * 3_600_000;
/** Repeated rotations replace the oldest: each signature adds 48 characters to a header of every webhook. */
const REPLACED_SECRETS_MAX = 4;

/** Endpoints are stored on the accounts. Their webhook secrets are sealed, each bound to its account. */
export type EndpointStore = {
  readonly accounts: AccountTable;
  readonly webhookSealingKey: Secret;
  readonly clock: Clock;
};

/** An account's endpoint, with its webhook secrets unsealed. */
export type Endpoint = {
  readonly url: string | undefined;
  readonly status: "on" | "off";
  readonly generation: number;
  readonly failingSince: string | undefined;
  readonly failingEvents: readonly string[];
  /** The current one, and for 24 hours each that it replaced. */
  readonly secrets: readonly [current: string, ...previous: string[]];
};

/** Undefined if the account never had an endpoint. */
export const openEndpoint = async (
  { webhookSealingKey, clock }: EndpointStore,
  account: Account,
  health?: EndpointHealth,
): Promise<Endpoint | undefined> => {
  const { account_id, webhook } = account;
  const state = endpointState(account, health);
  if (webhook === undefined || state === undefined) return undefined;
  const key = await sealingKey(webhookSealingKey);
  const unsealed = (secret: string): string => unseal(key, account_id, Buffer.from(secret, "base64")).toString("utf8");
  return {
    url: state.url,
    status: state.status,
    generation: state.generation,
    failingSince: state.failing?.since,
    failingEvents: state.failing?.events ?? [],
    secrets: [unsealed(webhook.secret), ...replacedSecrets(webhook, clock()).map(({ secret }) => unsealed(secret))],
  };
};

/** The replaced secrets that still sign, the newest first. */
const replacedSecrets = ({ replaced_secrets }: WebhookField, nowMs: number): WebhookField["replaced_secrets"] =>
  replaced_secrets.filter(({ until }) => nowMs < Date.parse(until));

/** Undefined if the account never had an endpoint; throws if there is no such account. */
export const findEndpoint = async (store: EndpointStore, accountId: string): Promise<Endpoint | undefined> => {
  const { db, ledgerTable } = store.accounts;
  const [account, health] = await Promise.all([
    requireAccount(store.accounts, accountId),
    readEndpointHealth({ db, table: ledgerTable }, accountId),
  ]);
  return openEndpoint(store, account, health);
};

/**
 * Sets the URL of an account's endpoint and switches the endpoint on. Resolves with its secret, which is new if the
 * account had none.
 */
export const setEndpoint = async (
  store: EndpointStore,
  rules: AddressRules,
  accountId: string,
  url: string,
): Promise<{ readonly url: string; readonly webhookSecret: string; readonly isNewSecret: boolean }> => {
  const { href } = await parseEndpointUrl(url, rules);
  const sealSecret = await createSeal(store, accountId);
  const newSecret = newWebhookSecret();
  const sealedSecret = sealSecret(newSecret);
  const account = await changeAccount(store.accounts, accountId, (found) => ({
    ...found,
    webhook: { ...switchedOn(found.webhook ?? newWebhook(sealedSecret)), url: href },
  }));
  const endpoint = await openEndpoint(store, account);
  const webhookSecret = endpoint?.secrets[0] ?? "";
  return { url: href, webhookSecret, isNewSecret: webhookSecret === newSecret };
};

/**
 * Makes a new webhook secret. The current one also signs for another 24 hours, and so do those that it replaced within
 * the last 24: a rotation may be repeated because its answer was lost, and apps still have the secret before it.
 */
export const rotateWebhookSecret = async (
  store: EndpointStore,
  accountId: string,
): Promise<{ readonly webhookSecret: string; readonly previousUntil: string | undefined }> => {
  const sealSecret = await createSeal(store, accountId);
  const webhookSecret = newWebhookSecret();
  const nowMs = store.clock();
  const previousUntil = isoTime(nowMs + ROTATION_MS);
  const secret = sealSecret(webhookSecret);
  const { webhook } = await changeAccount(store.accounts, accountId, ({ webhook: before, ...found }) => {
    if (before === undefined) return { ...found, webhook: newWebhook(secret) };
    const replaced = [{ secret: before.secret, until: previousUntil }, ...replacedSecrets(before, nowMs)];
    return { ...found, webhook: { ...before, secret, replaced_secrets: replaced.slice(0, REPLACED_SECRETS_MAX) } };
  });
  return { webhookSecret, previousUntil: webhook?.replaced_secrets[0]?.until };
};

/** Gives an account a webhook secret that was made elsewhere, unless it has one. */
export const adoptWebhookSecret = async (store: EndpointStore, accountId: string, secret: string): Promise<void> => {
  const sealSecret = await createSeal(store, accountId);
  await changeAccount(store.accounts, accountId, (found) =>
    found.webhook ? undefined : { ...found, webhook: newWebhook(sealSecret(secret)) },
  );
};

/** Stops deliveries until the endpoint is enabled again. Webhooks of that time stay on record and can be sent again. */
export const disableEndpoint = (store: EndpointStore, accountId: string): Promise<void> =>
  changeEndpoint(store, accountId, (webhook) => ({ ...webhook, status: "off" }));

export const enableEndpoint = (store: EndpointStore, accountId: string): Promise<void> =>
  changeEndpoint(store, accountId, switchedOn);

/** Ends the failures of an endpoint that works again, unless a person set, enabled or disabled it since. */
export const endEndpointFailures = async (
  { accounts }: EndpointStore,
  accountId: string,
  generation: number,
): Promise<void> => {
  await changeAccount(accounts, accountId, (found) =>
    found.webhook?.generation === generation && found.webhook.status === "on"
      ? { ...found, webhook: switchedOn(found.webhook) }
      : undefined,
  );
};

const newWebhook = (secret: string): WebhookField => ({ status: "on", generation: 0, secret, replaced_secrets: [] });

/** Without the failures that deliveries have recorded. */
const switchedOn = (webhook: WebhookField): WebhookField => ({
  ...webhook,
  status: "on",
  generation: webhook.generation + 1,
});

const changeEndpoint = async (
  { accounts }: EndpointStore,
  accountId: string,
  changed: (webhook: WebhookField) => WebhookField,
): Promise<void> => {
  await changeAccount(accounts, accountId, (found) => {
    if (found.webhook?.url === undefined) throw new EndpointUrlError(`Account ${accountId} has no webhook endpoint`);
    return { ...found, webhook: changed(found.webhook) };
  });
};

/** Seals webhook secrets of one account. */
const createSeal = async (
  { webhookSealingKey }: EndpointStore,
  accountId: string,
): Promise<(secret: string) => string> => {
  const key = await sealingKey(webhookSealingKey);
  return (secret) => seal(key, accountId, Buffer.from(secret)).toString("base64");
};
