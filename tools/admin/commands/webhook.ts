import type { Command } from "commander";
import * as z from "zod";
import { webhookRuns } from "../../../shared/actions/webhook.ts";
import { whySchema } from "../../../shared/contract/actions/action.ts";
import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { webhookActions } from "../../../shared/contract/actions/webhook.ts";
import { findEndpoint } from "../../../shared/webhooks/endpoint.ts";
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
    run: async (context, input) => {
      const { webhook_secret, events, ...set } = await webhookRuns["webhook set"](context, input);
      const secret = webhook_secret ?? (await findEndpoint(context.endpoints, input.account))?.secrets[0] ?? null;
      const json = { ...set, webhook_secret: secret, events };
      return { json, text: fields({ ...json, events: json.events.join(", ") }) };
    },
  });
  addCommand(group, {
    usage: "events <account> <events>",
    summary: `Choose ${EVENTS_TEXT}; changes neither URL, secret nor status`,
    example: "events acc_0123456789abcdef01 transaction.updated,wallet.low,catalog.updated",
    options: [why],
    input: changeInput.extend({ events: eventsField }),
    run: async (context, input) => report(await webhookRuns["webhook events"](context, input)),
  });
  addCommand(group, {
    usage: "show <account>",
    readOnly: true,
    summary: webhookActions["webhook show"].summary,
    example: "show acc_0123456789abcdef01",
    input: accountInput,
    run: async (context, input) => report(await webhookRuns["webhook show"](context, input)),
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
    summary: webhookActions["webhook disable"].summary,
    example: "disable acc_0123456789abcdef01",
    options: [why],
    input: changeInput,
    run: async (context, input) => report(await webhookRuns["webhook disable"](context, input)),
  });
  addCommand(group, {
    usage: "enable <account>",
    summary: "Start sending webhooks again; announce resends the missed ones",
    example: "enable acc_0123456789abcdef01",
    options: [why],
    input: changeInput,
    run: async (context, input) => report(await webhookRuns["webhook enable"](context, input)),
  });
  addSecret(group);
};

const addSecret = (webhook: Command): void => {
  const group = addGroup(webhook, "secret", "Manage the signing secret of the endpoint");
  addCommand(group, {
    usage: "rotate <account>",
    summary: webhookActions["webhook secret rotate"].summary,
    example: "rotate acc_0123456789abcdef01",
    options: [why],
    input: changeInput,
    run: async (context, input) => {
      const json = await webhookRuns["webhook secret rotate"](context, input);
      return { json, text: fields(json) };
    },
  });
};

const report = (json: ActionOutput<"webhook show">): Report => ({
  json,
  text: fields({ ...json, down: json.down ? "yes" : "no", events: json.events.join(", ") }),
});

const test = async (context: AdminContext, input: { readonly account: string }): Promise<Report> => {
  const {
    response_headers: _headers,
    duration_ms: _duration,
    ...json
  } = await webhookRuns["webhook test"](context, input);
  return { ok: json.ok, json, text: fields({ ...json, ok: json.ok ? "yes" : "no" }) };
};
