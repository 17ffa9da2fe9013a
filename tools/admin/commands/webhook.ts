import type { Command } from "commander";
import * as z from "zod";
import { type Account, requireAccount } from "../../../shared/access/account-store.ts";
import { type AuditFields, audited, auditItem, recordAudited } from "../../../shared/actions/action-context.ts";
import { whySchema } from "../../../shared/contract/actions/action.ts";
import { OperatorError } from "../../../shared/platform/operator-error.ts";
import { isoTime } from "../../../shared/platform/time.ts";
import {
  disableEndpoint,
  type EndpointStore,
  enableEndpoint,
  findEndpoint,
  rotateWebhookSecret,
  setEndpoint,
} from "../../../shared/webhooks/endpoint.ts";
import { isDown } from "../../../shared/webhooks/next-step.ts";
import { createPost } from "../../../shared/webhooks/post-webhook.ts";
import { signatureHeaders, webhookId } from "../../../shared/webhooks/signature.ts";
import { setSubscribedEvents, subscribedEvents } from "../../../shared/webhooks/subscription.ts";
import { testEventBody } from "../../../shared/webhooks/webhook-body.ts";
import { type AccountEventName, TRANSACTION_UPDATED } from "../../../shared/webhooks/webhook-event.ts";
import { addCommand, addGroup, type Report, why } from "../command.ts";
import type { AdminContext } from "../context.ts";
import { accountField, eventsField } from "../fields.ts";
import { fields } from "../views/print.ts";

/** For the summaries of commands. */
const EVENTS_TEXT = "the events that the endpoint gets, comma-separated, with transaction.updated";

const accountInput = z.object({ account: accountField });
const changeInput = accountInput.extend({ why: whySchema.optional() });

export const addWebhook = (program: Command): void => {
  const group = addGroup(program, "webhook", "Manage the webhook endpoint of an account");
  addCommand(group, {
    usage: "set <account> <url>",
    summary: "Set the endpoint URL, enable it, and show its signing secret",
    example: "set acc_0123456789abcdef01 https://app.example.com/webhooks",
    options: [{ flags: "--events <events>", text: `${EVENTS_TEXT}; default: as they are` }, why],
    input: changeInput.extend({ url: z.string(), events: eventsField.optional() }),
    run: async (context, { account, url, events, why }) => {
      const store = auditedEndpoints(context, { action: "webhook set", why, details: { url } });
      const { webhookSecret, ...set } = await setEndpoint(store, context.addressRules, account, url);
      if (events !== undefined) await setEvents(context, { account, events, why });
      const json = {
        account_id: account,
        ...set,
        webhook_secret: webhookSecret,
        events: await eventsOf(context, account),
      };
      return { json, text: fields({ ...json, events: json.events.join(", ") }) };
    },
  });
  addCommand(group, {
    usage: "events <account> <events>",
    summary: `Choose ${EVENTS_TEXT}; changes neither URL, secret nor status`,
    example: "events acc_0123456789abcdef01 transaction.updated,wallet.low,catalog.updated",
    options: [why],
    input: changeInput.extend({ events: eventsField }),
    run: async (context, { account, events, why }) => {
      const { webhook } = await requireAccount(context.accounts, account);
      if (webhook?.url === undefined) throw noEndpoint(account);
      await setEvents(context, { account, events, why });
      return show(context, { account });
    },
  });
  addCommand(group, {
    usage: "show <account>",
    readOnly: true,
    summary: "Show the URL, its status, its events, and since when deliveries fail; never the secret",
    example: "show acc_0123456789abcdef01",
    input: accountInput,
    run: show,
  });
  addCommand(group, {
    usage: "test <account>",
    summary: "Send one signed webhook.test event; exit code 1 unless the endpoint responds 2xx",
    example: "test acc_0123456789abcdef01",
    input: accountInput,
    run: test,
  });
  addCommand(group, {
    usage: "disable <account>",
    summary: "Stop sending webhooks to the endpoint",
    example: "disable acc_0123456789abcdef01",
    options: [why],
    input: changeInput,
    run: async (context, { account, why }) => {
      await disableEndpoint(auditedEndpoints(context, { action: "webhook disable", why }), account);
      return show(context, { account });
    },
  });
  addCommand(group, {
    usage: "enable <account>",
    summary: "Start sending webhooks again; announce resends the missed ones",
    example: "enable acc_0123456789abcdef01",
    options: [why],
    input: changeInput,
    run: async (context, { account, why }) => {
      await enableEndpoint(auditedEndpoints(context, { action: "webhook enable", why }), account);
      return show(context, { account });
    },
  });
  addSecret(group);
};

const addSecret = (webhook: Command): void => {
  const group = addGroup(webhook, "secret", "Manage the signing secret of the endpoint");
  addCommand(group, {
    usage: "rotate <account>",
    summary: "Create a new secret; for 24 hours webhooks carry both signatures",
    example: "rotate acc_0123456789abcdef01",
    options: [why],
    input: changeInput,
    run: async (context, { account, why }) => {
      const store = auditedEndpoints(context, { action: "webhook secret rotate", why });
      const { webhookSecret, previousUntil = null } = await rotateWebhookSecret(store, account);
      const json = { account_id: account, webhook_secret: webhookSecret, previous_until: previousUntil };
      return { json, text: fields(json) };
    },
  });
};

const auditedEndpoints = (context: AdminContext, auditFields: AuditFields): EndpointStore => ({
  ...context.endpoints,
  accounts: audited(context, () => auditFields),
});

const setEvents = (
  context: AdminContext,
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

const eventsOf = async ({ ledger }: AdminContext, account: string): Promise<readonly string[]> => [
  TRANSACTION_UPDATED,
  ...(await subscribedEvents(ledger, account)),
];

const noEndpoint = (account: string): OperatorError =>
  new OperatorError(`Account ${account} has no webhook endpoint. Set one with webhook set`);

const view = ({ account_id, webhook }: Account) => ({
  account_id,
  url: webhook?.url ?? null,
  status: webhook?.url === undefined ? "none" : webhook.status,
  failing_since: webhook?.failing_since ?? null,
  down: isDown(webhook?.failing_events),
  previous_secret_until: webhook?.previous_until ?? null,
});

const show = async (context: AdminContext, { account }: { readonly account: string }): Promise<Report> => {
  const json = {
    ...view(await requireAccount(context.accounts, account)),
    events: await eventsOf(context, account),
  };
  return { json, text: fields({ ...json, down: json.down ? "yes" : "no", events: json.events.join(", ") }) };
};

const test = async (context: AdminContext, { account }: { readonly account: string }): Promise<Report> => {
  const endpoint = await findEndpoint(context.endpoints, account);
  if (endpoint?.url === undefined) throw noEndpoint(account);
  await recordAudited(context, account, { action: "webhook test", details: { url: endpoint.url } });
  const atMs = context.ledger.clock();
  const id = webhookId(account, isoTime(atMs));
  const body = testEventBody(account, isoTime(atMs));
  const headers = {
    "content-type": "application/json",
    ...signatureHeaders({ id, atMs, body, secrets: endpoint.secrets }),
  };
  const result = await createPost(context.addressRules)({ url: endpoint.url, headers, body });
  const ok = result.kind === "answered" && result.status >= 200 && result.status <= 299;
  const json = {
    account_id: account,
    url: endpoint.url,
    webhook_id: id,
    ok,
    http_status: result.status ?? null,
    reason: result.kind === "failed" ? result.reason : null,
  };
  return { ok, json, text: fields({ ...json, ok: ok ? "yes" : "no" }) };
};
