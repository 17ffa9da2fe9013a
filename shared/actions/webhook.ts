import { type Account, requireAccount } from "../access/account-store.ts";
import type { ActionOutput } from "../contract/actions/actions.ts";
import type { webhookActions } from "../contract/actions/webhook.ts";
import { isMaskedUrl, shownUrl } from "../contract/values/shown-url.ts";
import type { EndpointKey } from "../ledger/schema.ts";
import { OperatorError } from "../platform/operator-error.ts";
import { isoTime } from "../platform/time.ts";
import { parseEndpointUrl } from "../webhooks/address-guard.ts";
import { deliveryQueue } from "../webhooks/delivery-queue.ts";
import {
  addEndpoint,
  chosenEndpoint,
  disableEndpoint,
  type EndpointStore,
  enableEndpoint,
  endEndpointFailures,
  removeEndpoint,
  requireEndpoint,
  rotateWebhookSecret,
  type SetEndpoint,
  setEndpoint,
  setEndpointEvents,
} from "../webhooks/endpoint.ts";
import { type EndpointState, isDown, readEndpointStates } from "../webhooks/endpoint-health.ts";
import { isDelivered } from "../webhooks/post-result.ts";
import { createPost } from "../webhooks/post-webhook.ts";
import { requeueAtOnce } from "../webhooks/requeue-deliveries.ts";
import { signedHeaders, webhookId } from "../webhooks/signature.ts";
import { testEventBody } from "../webhooks/webhook-body.ts";
import { type ActionContext, type AuditFields, audited, recordAudited } from "./action-context.ts";
import { countResend } from "./action-limits.ts";
import type { ActionRuns } from "./action-runs.ts";

export const webhookRuns: ActionRuns<typeof webhookActions> = {
  "webhook list": async (context, { account }) => ({
    endpoints: (await statesOf(context, account)).map((endpoint) => view(account, endpoint)),
  }),
  "webhook show": (context, { account, endpoint }) => show(context, account, endpoint),
  "webhook add": async (context, { account, url, name, events, why }) => {
    const store = await setting(context, { action: "webhook add", account, url, why });
    return setView(account, await addEndpoint(store, context.addressRules, account, url, { name, events }), 0);
  },
  "webhook set": async (context, { account, endpoint, url, name, events, before, why }) => {
    const store = await setting(context, { action: "webhook set", account, url, why });
    const set = await setEndpoint(store, context.addressRules, account, url, { endpoint, name, events, before });
    // Nothing waits for a new endpoint, and no step may come between its secret and the answer.
    const requeued = set.isNewSecret ? 0 : await requeue(context, { accountId: account, endpoint: set.endpoint.id });
    return setView(account, set, requeued);
  },
  "webhook events": async (context, { account, endpoint, events, before, why }) => {
    const key = await keyOf(context, account, endpoint);
    const store = changing(context, "webhook events", key, why, { events: events.join(",") });
    await setEndpointEvents(store, key, events, before);
    return show(context, account, key.endpoint);
  },
  "webhook enable": async (context, { account, endpoint, why }) => {
    const key = await keyOf(context, account, endpoint);
    await enableEndpoint(changing(context, "webhook enable", key, why), key);
    return { ...(await show(context, account, key.endpoint)), requeued: await requeue(context, key) };
  },
  "webhook disable": async (context, { account, endpoint, why }) => {
    const key = await keyOf(context, account, endpoint);
    await disableEndpoint(changing(context, "webhook disable", key, why), key);
    return show(context, account, key.endpoint);
  },
  "webhook test": async (context, { account, endpoint: chosen, why }) => {
    const endpoint = await requireEndpoint(context.endpoints, account, chosen);
    const key = { accountId: account, endpoint: endpoint.id };
    const details = { endpoint: endpoint.id, url: shownUrl(endpoint.url) };
    await recordAudited(context, account, { action: "webhook test", why, details });
    const atMs = context.ledger.clock();
    const id = webhookId(account, isoTime(atMs));
    const body = testEventBody(account, isoTime(atMs));
    const headers = signedHeaders({ id, atMs, body, secrets: endpoint.secrets });
    const result = await createPost(context.addressRules)({ url: endpoint.url, headers, body });
    const hasRecovered = isDelivered(result) && endpoint.status === "on" && endpoint.failing !== undefined;
    if (hasRecovered) await endEndpointFailures(context.endpoints, { ...key, generation: endpoint.generation });
    return {
      account_id: account,
      ...details,
      webhook_id: id,
      ok: isDelivered(result),
      http_status: result.status ?? null,
      reason: result.kind === "failed" ? result.reason : null,
      response_headers: result.headers === undefined ? null : { ...result.headers },
      duration_ms: Math.max(0, context.ledger.clock() - atMs),
      requeued: hasRecovered ? await requeue(context, key) : 0,
    };
  },
  "webhook secret rotate": async (context, { account, endpoint, why }) => {
    const key = await keyOf(context, account, endpoint);
    const store = changing(context, "webhook secret rotate", key, why);
    const { webhookSecret, previousUntil } = await rotateWebhookSecret(store, key);
    return {
      account_id: account,
      endpoint: key.endpoint,
      webhook_secret: webhookSecret,
      previous_until: previousUntil,
    };
  },
  "webhook remove": async (context, { account, endpoint, why }) => {
    const { url } = chosenEndpoint(await requireAccount(context.accounts, account), endpoint);
    const key = { accountId: account, endpoint };
    await removeEndpoint(changing(context, "webhook remove", key, why, { url: shownUrl(url) }), key);
    await requeue(context, key);
    return { account_id: account, endpoint, url: shownUrl(url) };
  },
};

const auditedEndpoints = (context: ActionContext, auditFields: (account: Account) => AuditFields): EndpointStore => ({
  ...context.endpoints,
  accounts: audited(context, auditFields),
});

/** The store for a change of one endpoint. */
const changing = (
  context: ActionContext,
  action: string,
  { endpoint }: EndpointKey,
  why: string | undefined,
  details: AuditFields["details"] = {},
): EndpointStore => auditedEndpoints(context, () => ({ action, why, details: { endpoint, ...details } }));

type Setting = {
  readonly action: string;
  readonly account: string;
  readonly url: string;
  readonly why: string | undefined;
};

/** The store that sets or adds the endpoint with this URL; no other endpoint of the account has it. */
const setting = async (context: ActionContext, { action, account, url, why }: Setting): Promise<EndpointStore> => {
  await requireAccount(context.accounts, account);
  if (isMaskedUrl(url))
    throw new OperatorError("The URL contains masked values (***): enter them in full", { field: "url" });
  const { href } = await parseEndpointUrl(url, context.addressRules);
  return auditedEndpoints(context, ({ endpoints }) => {
    const { id: endpoint = "", events = [] } = endpoints.find((each) => each.url === href) ?? {};
    return { action, why, details: { endpoint, url: shownUrl(href), events: events.join(",") } };
  });
};

const keyOf = async (
  context: ActionContext,
  accountId: string,
  endpoint: string | undefined,
): Promise<EndpointKey> => ({
  accountId,
  endpoint: chosenEndpoint(await requireAccount(context.accounts, accountId), endpoint).id,
});

/** A fault, or too many of a minute, does not undo the change: the schedule sends what waits within minutes. */
const requeue = async (context: ActionContext, key: EndpointKey): Promise<number | null> => {
  const { ledger, purchases, sqs, queues } = context;
  try {
    await countResend(purchases, { ...key, by: "repair" }, ledger.clock());
    return await requeueAtOnce({ ledger, queue: deliveryQueue(sqs, queues.delivery) }, key);
  } catch {
    return null;
  }
};

const statesOf = async ({ ledger, accounts }: ActionContext, accountId: string): Promise<readonly EndpointState[]> =>
  readEndpointStates(ledger, [await requireAccount(accounts, accountId)]);

const show = async (context: ActionContext, accountId: string, endpoint: string | undefined) => {
  const account = await requireAccount(context.accounts, accountId);
  if (account.endpoints.length === 0 && endpoint === undefined) return view(accountId, undefined);
  const chosen = chosenEndpoint(account, endpoint);
  const [state] = await readEndpointStates(context.ledger, [{ ...account, endpoints: [chosen] }]);
  return view(accountId, state);
};

const view = (accountId: string, endpoint: EndpointState | undefined): ActionOutput<"webhook show"> => ({
  account_id: accountId,
  endpoint: endpoint?.id ?? null,
  name: endpoint?.name ?? null,
  url: endpoint === undefined ? null : shownUrl(endpoint.url),
  status: endpoint?.status ?? "none",
  failing_since: endpoint?.failing?.since ?? null,
  down: isDown(endpoint?.failing?.events),
  previous_secret_until: endpoint?.replaced_secrets[0]?.until ?? null,
  events: endpoint?.events ?? [],
});

const setView = (
  accountId: string,
  { endpoint, webhookSecret, isNewSecret }: SetEndpoint,
  requeued: number | null,
) => ({
  account_id: accountId,
  endpoint: endpoint.id,
  name: endpoint.name,
  url: shownUrl(endpoint.url),
  webhook_secret: isNewSecret ? webhookSecret : null,
  events: endpoint.events,
  requeued,
});
