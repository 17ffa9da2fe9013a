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
import { newSecret } from "./signature.ts";

/** How long the secret before signs beside the new one. */
const ROTATION_MS = 24 * 3_600_000;

/** Where endpoints are kept: on the accounts, their secrets sealed with this key, each bound to its account. */
export type EndpointStore = { readonly accounts: AccountTable; readonly webhookKey: Secret; readonly clock: Clock };

/** An account's endpoint, its secrets open. */
export type Endpoint = {
  readonly url: string | undefined;
  readonly status: "on" | "off";
  readonly failingSince: string | undefined;
  /** The present one, and during a rotation the one before. */
  readonly secrets: readonly [present: string, ...before: string[]];
};

/** Undefined where the account never had one. */
export const readEndpoint = async (
  { webhookKey, clock }: EndpointStore,
  { account_id, webhook }: Account,
): Promise<Endpoint | undefined> => {
  if (webhook === undefined) return undefined;
  const key = await sealingKey(webhookKey);
  const open = (sealed: string): string => unseal(key, account_id, Buffer.from(sealed, "base64")).toString("utf8");
  const { previous_secret, previous_until } = webhook;
  const signsToo = previous_until !== undefined && clock() < Date.parse(previous_until);
  return {
    url: webhook.url,
    status: webhook.status,
    failingSince: webhook.failing_since,
    secrets: [open(webhook.secret), ...(signsToo && previous_secret !== undefined ? [open(previous_secret)] : [])],
  };
};

/** The endpoint of an account that may have none. */
export const findEndpoint = async (store: EndpointStore, accountId: string): Promise<Endpoint | undefined> =>
  readEndpoint(store, await requireAccount(store.accounts, accountId));

/** Sets where an account is told, and switches that on. The first time a secret is made; it is the one that signs, and returned. */
export const setEndpoint = async (
  store: EndpointStore,
  rules: AddressRules,
  accountId: string,
  url: string,
): Promise<{ readonly url: string; readonly webhookSecret: string }> => {
  const { href } = await parseEndpointUrl(url, rules);
  const sealed = await sealing(store, accountId);
  const fresh = sealed(newSecret());
  const account = await changeAccount(store.accounts, accountId, (found) => ({
    ...found,
    webhook: { ...switchedOn(found.webhook ?? { status: "on", secret: fresh }), url: href },
  }));
  const endpoint = await readEndpoint(store, account);
  return { url: href, webhookSecret: endpoint?.secrets[0] ?? "" };
};

/** Makes a new secret. The present one goes on signing beside it for 24 hours. */
export const rotateSecret = async (
  store: EndpointStore,
  accountId: string,
): Promise<{ readonly webhookSecret: string; readonly previousUntil: string | undefined }> => {
  const sealed = await sealing(store, accountId);
  const webhookSecret = newSecret();
  const previousUntil = isoTime(store.clock() + ROTATION_MS);
  const { webhook } = await changeAccount(store.accounts, accountId, (found) => ({
    ...found,
    webhook: {
      ...(found.webhook ?? { status: "on" }),
      secret: sealed(webhookSecret),
      ...(found.webhook && { previous_secret: found.webhook.secret, previous_until: previousUntil }),
    },
  }));
  return { webhookSecret, previousUntil: webhook?.previous_until };
};

/** Gives an account a secret that was made elsewhere, if it has none yet. */
export const adoptSecret = async (store: EndpointStore, accountId: string, secret: string): Promise<void> => {
  const sealed = await sealing(store, accountId);
  await changeAccount(store.accounts, accountId, (found) =>
    found.webhook ? undefined : { ...found, webhook: { status: "on", secret: sealed(secret) } },
  );
};

/** Nothing is told until it is enabled again; what ends meanwhile is on record and can be repeated. */
export const disableEndpoint = (store: EndpointStore, accountId: string): Promise<void> =>
  change(store, accountId, (webhook) => ({ ...webhook, status: "off" }));

export const enableEndpoint = (store: EndpointStore, accountId: string): Promise<void> =>
  change(store, accountId, switchedOn);

/** Remembers whether an endpoint takes events, as long as it is still the one at this URL. */
export const noteHealth = async (
  store: EndpointStore,
  accountId: string,
  url: string,
  health: { readonly failingSince: string | undefined; readonly switchOff?: true },
): Promise<void> => {
  await changeAccount(store.accounts, accountId, (found) => {
    const { webhook } = found;
    if (webhook === undefined || webhook.url !== url || webhook.status === "off") return undefined;
    const { failing_since, ...rest } = webhook;
    // The first failure is the one that counts.
    const since = health.failingSince && (failing_since ?? health.failingSince);
    if (since === failing_since && !health.switchOff) return undefined;
    const status = health.switchOff ? "off" : rest.status;
    return { ...found, webhook: { ...rest, status, ...(since !== undefined && { failing_since: since }) } };
  });
};

const switchedOn = ({ failing_since: _since, ...webhook }: WebhookField): WebhookField => ({
  ...webhook,
  status: "on",
});

const change = async (
  { accounts }: EndpointStore,
  accountId: string,
  with_: (webhook: WebhookField) => WebhookField,
): Promise<void> => {
  await changeAccount(accounts, accountId, (found) => {
    if (found.webhook?.url === undefined) throw new EndpointUrlError(`Account ${accountId} has no webhook endpoint`);
    return { ...found, webhook: with_(found.webhook) };
  });
};

const sealing = async ({ webhookKey }: EndpointStore, accountId: string): Promise<(secret: string) => string> => {
  const key = await sealingKey(webhookKey);
  return (secret) => seal(key, accountId, Buffer.from(secret)).toString("base64");
};
