import { type Account, requireAccount } from "../access/account-store.ts";
import type { webhookActions } from "../contract/actions/webhook.ts";
import { isMaskedUrl, shownUrl } from "../contract/shown-url.ts";
import type { AccountEventName } from "../contract/webhook-events.ts";
import { OperatorError } from "../platform/operator-error.ts";
import { isoTime } from "../platform/time.ts";
import { parseEndpointUrl } from "../webhooks/address-guard.ts";
import { deliveryQueue } from "../webhooks/delivery-queue.ts";
import {
  disableEndpoint,
  type EndpointStore,
  enableEndpoint,
  endEndpointFailures,
  findEndpoint,
  rotateWebhookSecret,
  setEndpoint,
} from "../webhooks/endpoint.ts";
import { type EndpointState, readEndpointState } from "../webhooks/endpoint-health.ts";
import { isDelivered, isDown } from "../webhooks/next-step.ts";
import { createPost } from "../webhooks/post-webhook.ts";
import { requeueAtOnce } from "../webhooks/requeue-deliveries.ts";
import { signedHeaders, webhookId } from "../webhooks/signature.ts";
import { setSubscribedEvents, subscribedEvents } from "../webhooks/subscription.ts";
import { testEventBody } from "../webhooks/webhook-body.ts";
import { TRANSACTION_UPDATED } from "../webhooks/webhook-event.ts";
import { type ActionContext, type AuditFields, audited, auditItem, recordAudited } from "./action-context.ts";
import type { ActionRuns } from "./action-runs.ts";

export const webhookRuns: ActionRuns<typeof webhookActions> = {
  "webhook show": (context, { account }) => show(context, account),
  "webhook set": async (context, { account, url, events, why }) => {
    // The first secret is shown once, so the write that makes it comes last.
    await requireAccount(context.accounts, account);
    if (isMaskedUrl(url)) throw new OperatorError("The URL has masked values (***), as it is shown: write them out");
    const { href } = await parseEndpointUrl(url, context.addressRules);
    if (events !== undefined) await setEvents(context, { account, events, why });
    const chosen = await eventsOf(context, account);
    const store = auditedEndpoints(context, { action: "webhook set", why, details: { url: shownUrl(href) } });
    const set = await setEndpoint(store, context.addressRules, account, url);
    return {
      account_id: account,
      url: shownUrl(set.url),
      webhook_secret: set.isNewSecret ? set.webhookSecret : null,
      events: chosen,
      // Nothing waits for a first endpoint, and no step may come between its secret and the answer.
      requeued: set.isNewSecret ? 0 : await requeue(context, account),
    };
  },
  "webhook events": async (context, { account, events, why }) => {
    const { webhook } = await requireAccount(context.accounts, account);
    if (webhook?.url === undefined) throw noEndpoint(account);
    await setEvents(context, { account, events, why });
    return show(context, account);
  },
  "webhook enable": async (context, { account, why }) => {
    await enableEndpoint(auditedEndpoints(context, { action: "webhook enable", why }), account);
    return { ...(await show(context, account)), requeued: await requeue(context, account) };
  },
  "webhook disable": async (context, { account, why }) => {
    await disableEndpoint(auditedEndpoints(context, { action: "webhook disable", why }), account);
    return show(context, account);
  },
  "webhook test": async (context, { account, why }) => {
    const endpoint = await findEndpoint(context.endpoints, account);
    if (endpoint?.url === undefined) throw noEndpoint(account);
    await recordAudited(context, account, { action: "webhook test", why, details: { url: shownUrl(endpoint.url) } });
    const atMs = context.ledger.clock();
    const id = webhookId(account, isoTime(atMs));
    const body = testEventBody(account, isoTime(atMs));
    const headers = signedHeaders({ id, atMs, body, secrets: endpoint.secrets });
    const result = await createPost(context.addressRules)({ url: endpoint.url, headers, body });
    const hasRecovered = isDelivered(result) && endpoint.status === "on" && endpoint.failingSince !== undefined;
    if (hasRecovered) await endEndpointFailures(context.endpoints, account, endpoint.generation);
    return {
      account_id: account,
      url: shownUrl(endpoint.url),
      webhook_id: id,
      ok: isDelivered(result),
      http_status: result.status ?? null,
      reason: result.kind === "failed" ? result.reason : null,
      response_headers: result.headers === undefined ? null : { ...result.headers },
      duration_ms: Math.max(0, context.ledger.clock() - atMs),
      requeued: hasRecovered ? await requeue(context, account) : 0,
    };
  },
  "webhook secret rotate": async (context, { account, why }) => {
    const store = auditedEndpoints(context, { action: "webhook secret rotate", why });
    const { webhookSecret, previousUntil = null } = await rotateWebhookSecret(store, account);
    return { account_id: account, webhook_secret: webhookSecret, previous_until: previousUntil };
  },
};

const auditedEndpoints = (context: ActionContext, auditFields: AuditFields): EndpointStore => ({
  ...context.endpoints,
  accounts: audited(context, () => auditFields),
});

/** A fault does not undo the change: the schedule sends what waits within minutes. */
const requeue = async ({ ledger, sqs, queues }: ActionContext, account: string): Promise<number | null> => {
  try {
    return await requeueAtOnce({ ledger, queue: deliveryQueue(sqs, queues.delivery) }, account);
  } catch {
    return null;
  }
};

const setEvents = (
  context: ActionContext,
  change: {
    readonly account: string;
    readonly events: readonly AccountEventName[];
    readonly why: string | undefined;
  },
): Promise<void> => {
  const { account, events, why } = change;
  const details = { events: [TRANSACTION_UPDATED, ...events].join(",") };
  const audit = auditItem(context, account, { action: "webhook events", why, details });
  return setSubscribedEvents(context.ledger, account, events, audit);
};

const eventsOf = async ({ ledger }: ActionContext, account: string): Promise<string[]> => [
  TRANSACTION_UPDATED,
  ...(await subscribedEvents(ledger, account)),
];

export const noEndpoint = (account: string): OperatorError =>
  new OperatorError(`Account ${account} has no webhook endpoint`, { command: "Set one with webhook set" });

const show = async (context: ActionContext, accountId: string) => {
  const account = await requireAccount(context.accounts, accountId);
  return {
    ...view(account, await readEndpointState(context.ledger, account)),
    events: await eventsOf(context, accountId),
  };
};

const view = ({ account_id, webhook }: Account, endpoint: EndpointState | undefined) => ({
  account_id,
  url: endpoint?.url === undefined ? null : shownUrl(endpoint.url),
  status: endpoint?.url === undefined ? ("none" as const) : endpoint.status,
  failing_since: endpoint?.failing?.since ?? null,
  down: isDown(endpoint?.failing?.events),
  previous_secret_until: webhook?.replaced_secrets[0]?.until ?? null,
});
