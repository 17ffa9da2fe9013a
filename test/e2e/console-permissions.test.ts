import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { CreateQueueCommand, SendMessageCommand } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import * as z from "#zod";

import { parseConsoleSettings } from "../../shared/console/console-settings.ts";
import { methodOf } from "../../shared/contract/actions/action.ts";
import { type ActionName, actionPath, actions } from "../../shared/contract/actions/actions.ts";
import { reconciliationActions } from "../../shared/contract/actions/reconciliation.ts";
import { subjectsActions } from "../../shared/contract/actions/subjects.ts";
import { koboFromNaira } from "../../shared/contract/money.ts";
import { firstCheckpoint, writeCheckpoint } from "../../shared/ledger/checkpoint.ts";
import { pkOfReference } from "../../shared/ledger/transaction.ts";
import { continueClosing, monthToClose } from "../../shared/periods/close-period.ts";
import { openSqs } from "../../shared/platform/aws/sdk.ts";
import { deadlineIn } from "../../shared/platform/deadline.ts";
import { scheduleDeadLetters, streamDeadLetters } from "../../shared/platform/queue-names.ts";
import { isoTime } from "../../shared/platform/time.ts";
import { listEvents, recordEvent, storedEventId } from "../../shared/upstream-events/stored-event.ts";
import { newDelivery, recordProgress } from "../../shared/webhooks/delivery.ts";
import { type Invoke, loadFunctions } from "../../tools/local/functions.ts";
import { textClaims } from "../../tools/local/jwt-authorizer.ts";
import { listenOnLoopback } from "../../tools/local/loopback.ts";
import {
  ageForSubjects,
  ageTransaction,
  ageWallet,
  type OperatedService,
  startOperatedService,
} from "../builders/admin.ts";
import { anApiEvent } from "../builders/api-event.ts";
import { everyFunction } from "../builders/console.ts";
import { eventually } from "../builders/eventually.ts";
import { anOldAccount, CLOSED_MONTH } from "../builders/old-account.ts";
import { type Receiver, startReceiver } from "../builders/receiver.ts";
import { recordCalls } from "../builders/recorded-calls.ts";
import { asAllowed, type Grant, grantsIn, requiredGrants } from "../builders/required-grants.ts";
import { idIn, templatesOf } from "../builders/templates.ts";

/**
 * Goal: the role of a function of actions allows exactly what these ask of AWS. Method: every action runs through its
 * function's own handler on a local service, and its calls are recorded.
 */
const { service: stage } = templatesOf("prod", everyFunction);
const why = "test";

let service: OperatedService;
let receiver: Receiver;
let invoke: Invoke;
/** A chat that takes every message. */
const chat = createServer((_request, response) => void response.end("ok"));
let chatUrl = "";
beforeAll(async () => {
  chatUrl = `http://127.0.0.1:${await listenOnLoopback(chat)}/`;
  service = await startOperatedService();
  receiver = await startReceiver((response) => void response.writeHead(200).end());
  // Its name has the stage, and the SDK makes every call, so that each is recorded.
  vi.stubEnv("AWS_LAMBDA_FUNCTION_NAME", "prod-airtime-console-api");
  vi.stubEnv("AWS_CALLS", "sdk");
  vi.stubEnv("FOUR_EYES", JSON.stringify({ resolveAboveNaira: 10_000_000 }));
  invoke = await loadFunctions(
    ["console-api", "reconcile-statement", "answer-subjects"],
    new URL("../../functions/", import.meta.url),
  );
  vi.unstubAllEnvs();
  await runEveryAction();
});
afterAll(async () => {
  chat.close();
  await Promise.all([service.stop(), receiver.stop()]);
});

/** What each action needs, by its name. */
const needed = new Map<ActionName, readonly Grant[]>();

/** A token of an operator. Nobody signs it: API Gateway verifies tokens, and is not part of this. */
const operatorsRequest = (sub: string) => {
  const { issuer, clientId, operatorGroup } = parseConsoleSettings(process.env.CONSOLE ?? "");
  const iat = Math.floor(Date.now() / 1_000);
  const email = { email: `${sub}@example.com`, email_verified: true };
  const claims = { iss: issuer, aud: clientId, sub, ...email, groups: [operatorGroup], iat, exp: iat + 600 };
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  return {
    claims: textClaims(claims),
    authorization: `Bearer ${part({ alg: "RS256" })}.${part(claims)}.${part({})}`,
  };
};

const functionOf = (name: ActionName): string => {
  if (name in subjectsActions) return "answer-subjects";
  return name in reconciliationActions ? "reconcile-statement" : "console-api";
};

const answer = z.object({ statusCode: z.int(), body: z.string() });
const envelope = z.object({ data: z.record(z.string(), z.unknown()) });

/** Runs an action; resolves with what it answers. */
const act = async (
  name: ActionName,
  input: Readonly<Record<string, unknown>> = {},
  sub = "ada",
): Promise<z.output<typeof envelope>["data"]> => {
  const path = actionPath(name);
  const method = methodOf(actions[name]);
  const { claims, authorization } = operatorsRequest(sub);
  const event = anApiEvent({
    method,
    path,
    routeKey: `${method} /console-api/{path+}`,
    pathParameters: { path: path.replace("/console-api/", "") },
    headers: { authorization },
    ...(method === "POST"
      ? { body: JSON.stringify(input) }
      : { query: Object.fromEntries(Object.entries(input).map(([field, value]) => [field, String(value)])) }),
  });
  const authorized = {
    ...event,
    requestContext: { ...event.requestContext, authorizer: { jwt: { claims, scopes: null } } },
  };
  const grants: Grant[] = [...(needed.get(name) ?? [])];
  let answered: unknown;
  await recordCalls({ canned: {}, onCall: (call) => void grants.push(...requiredGrants(call, stage)) }, async () => {
    answered = await invoke(functionOf(name), authorized);
  });
  needed.set(name, grants);
  const { statusCode, body } = answer.parse(answered);
  expect(statusCode, `${name}: ${body}`).toBeOneOf([200, 202]);
  const { data } = envelope.parse(JSON.parse(body));
  if (statusCode === 200) return data;
  // Another person approves it, so that the call has its effect; it counts for what was proposed.
  const { proposal } = z.object({ proposal: z.object({ proposal: z.string() }) }).parse(data).proposal;
  return act(decision, { proposal, why }, "bola");
};

/** What another person does with a proposal. */
let decision: "proposals approve" | "proposals reject" | "proposals break-glass" = "proposals approve";

const fieldOf = (data: Readonly<Record<string, unknown>>, field: string): string => z.string().parse(data[field]);

const runEveryAction = async (): Promise<void> => {
  await act("me");
  await act("notifications choose", { email: ["wallet.low"], slack: ["wallet.low"], slack_url: chatUrl });
  await act("notifications show");
  await act("notifications list");
  await act("notifications stop", { person: "ada@example.com", why });
  await act("search", { text: "0803 123 4567" });
  await act("purchases show");
  await act("purchases off", { why });
  await act("purchases on", { why });
  await act("purchases off", { part: "data", why });
  await act("purchases on", { part: "data" });

  await act("catalog show");
  const plan = { id: 101, network_id: 1, name: "1GB", price: 500, validity: "30 days" };
  const data = { networks: [{ id: 1, name: "MTN", code: "mtn" }], data_plans: [plan] };
  await service.controlSimulator("PUT", "catalog", { status: true, message: "OK", data });
  await service.admin(["catalog", "refresh"]);
  await act("catalog diff");
  await act("catalog accept", { why });

  const made = fieldOf(await act("accounts create", { name: "checkout", why }), "account_id");
  await act("accounts list");
  await act("purchases state", { account: made });
  await act("accounts show", { account: made });
  await act("accounts restrict", { account: made, why });
  await act("accounts unrestrict", { account: made, why });
  const closed = fieldOf(await act("accounts create", { name: "closed", why }), "account_id");
  await act("accounts restrict", { account: closed, why });
  await ageWallet(service, closed);
  await act("accounts close", { account: closed, why });
  await act("accounts reopen", { account: closed, why });
  await act("accounts entitle", { account: made, entitlements: { vtu: 100 } });
  await act("accounts duplicates", { account: made, window_s: 60 });
  await act("accounts limits", { account: made, limits: { day_naira: 1_000 } });
  await act("accounts owners", { account: made, owners: [{ kind: "email", value: "ada@example.com" }], why });
  await act("ips allow", { account: made, ranges: ["203.0.113.7"] });
  await act("ips list", { account: made });
  await act("ips mine", { account: made });
  await act("ips disallow", { account: made, ranges: ["203.0.113.7"] });
  await act("audit account", { account: made });
  await act("audit list");

  const { account, key, keyId } = await service.newApp();
  await act("webhook set", { account, url: receiver.url });
  await act("webhook show", { account });
  await act("webhook events", { account, events: ["wallet.low"] });
  await act("webhook test", { account });
  await parkDelivery(account);
  await act("webhook disable", { account });
  await act("webhook enable", { account });
  await act("webhook secret rotate", { account, why });
  const second = fieldOf(await act("webhook add", { account, url: `${receiver.url}2` }), "endpoint");
  await act("webhook list", { account });
  await act("webhook remove", { account, endpoint: second, why });

  await act("accounts limits", { account, limits: { day_naira: 1_000_000 } });
  await act("keys limits", { account, key: keyId, limits: { month_orders: 1_000 } });
  await act("keys list", { account });
  const rotated = fieldOf(await act("keys rotate", { account, key: keyId, overlap_ms: 3_600_000 }), "key_id");
  await act("keys revoke", { account, key: rotated, why });
  await act("keys create", { account, mode: "live", permissions: ["vtu"] });

  const priced = await act("prices set", { account, kind: "airtime", percent: 1, why });
  const { rule } = actions["prices set"].output.parse(priced);
  await act("prices list", { account });
  await act("margin report", { from: "2026-11-01", to: "2026-11-30" });
  await act("refund-clock report", { from: "2026-11-01", to: "2026-11-30" });
  await act("float fund", { amount_kobo: 1_000_00, id: "bank-2", why });
  // It is compared with the payment that was booked.
  await expect(act("float fund", { amount_kobo: 1_000_00, id: "bank-2", why })).rejects.toThrow("was booked already");
  await act("float show");
  await act("prices remove", { account, rule_id: rule.rule_id, why });
  await act("wallet show", { account });
  await act("wallet threshold", { account, amount_kobo: 100_00 });
  await act("wallet fund", { account, amount_kobo: 1_000_00, id: "bank-1", why });
  await act("wallet adjust", { account, amount_kobo: -1_00, id: "case-1", why });
  await act("wallet reverse", { account, id: "bank-1", why });
  for (decision of ["proposals reject", "proposals break-glass", "proposals approve"] as const) {
    await act("wallet fund", { account, amount_kobo: 1_000_00, id: `bank-${decision}`.replaceAll(" ", "-"), why });
  }
  await act("proposals list");
  await act("wallet low");
  await act("wallet verify", { account });
  // Only a checkpoint that is wrong is written.
  await writeCheckpoint(service.ledger, { ...firstCheckpoint(account), balance_kobo: 1 });
  await act("wallet verify", { account });
  await act("wallet statement", { account, from: "2026-01-01" });
  const old = await anOldAccount(service.ledger, CLOSED_MONTH);
  // What another run closed in another zone is replaced.
  const inUtc = await monthToClose(service.ledger, CLOSED_MONTH, "UTC");
  await continueClosing(service.ledger, inUtc, { phase: "close", done: 0, accounts: 1 }, deadlineIn(9_000));
  await act("periods close", { month: CLOSED_MONTH, why });
  await act("periods list");
  await act("periods show", { month: CLOSED_MONTH });
  await act("periods accounts", { month: CLOSED_MONTH });
  await act("periods lines", { month: CLOSED_MONTH, account: old });
  await act("periods verify", { month: CLOSED_MONTH });

  await runEvents(account, key);
  await runDeadLetters();

  const check = await service.verifyNin(key, { nin: "12345678900", reference: "check-1" });
  const checked = check.headers.get("x-transaction-reference");
  await act("consents list", { account });
  await act("consents show", { account, reference: checked });
  await act("consents export", { account });
  await runSubjects();
  await runTransactions(account, key);

  await runReconciliation();

  const now = isoTime(Date.now());
  await act("statistics show", { from: now, to: now });
  await act("statistics account", { account });
  await act("statistics balances", { account });
};

/** A person with a check, and a phone number with an order, an event about it, and a webhook that failed. */
const runSubjects = async (): Promise<void> => {
  const { account, key } = await service.newApp();
  const number = "08055556666";
  const check = await service.verifyNin(key, { nin: "12345678911", reference: "check-2" });
  const { reference } = await service.buy(key, number);
  await ageForSubjects(service, check.headers.get("x-transaction-reference") ?? "");
  await ageForSubjects(service, reference);
  const pk = pkOfReference(reference) ?? "";
  await recordEvent(
    service.ledger,
    { reference: "u-1", status: "failed", phone: { masked: "0805****666" } },
    "contradiction",
    pk,
  );
  await act("webhook set", { account, url: receiver.url });
  const message = { event: "transaction.updated", transaction_pk: pk, status: "success", endpoint: "1" } as const;
  const attempt = { number: 1, at: isoTime(Date.now()), outcome: "status", response_body: "no", duration_ms: 1 };
  const { table, db } = service.ledger;
  const Item = {
    ...newDelivery(message, { accountId: account, webhookId: "w-1" }, Date.now()),
    state: "exhausted",
    attempts: [attempt],
  };
  await db.put({ TableName: table, Item });
  for (const [kind, of] of [
    ["nin", "12345678911"],
    ["phone_number", number],
  ]) {
    for (const name of ["subjects report", "subjects erase"] as const) {
      // The orders of a number are on the page after its checks.
      for (let cursor: unknown; cursor !== null; )
        ({ next_cursor: cursor } = await act(name, { kind, number: of, why, cursor }));
    }
  }
};

const runReconciliation = async (): Promise<void> => {
  const on = { day: isoTime(Date.now()).slice(0, 10) };
  const file = "a".repeat(64);
  const range = { from: isoTime(Date.now() - 86_400_000), to: isoTime(Date.now()) };
  await act("reconciliation files begin", { ...on, ...range, file, sha256: file });
  const row = { line: 2, amount_kobo: 500_00, status: "success", at: range.from };
  const rows = [{ ...row, type: "airtime", phone_number: "08031234567" }];
  await act("reconciliation files append", { ...on, file, offset: 0, rows, is_last: true });
  const wrong = "b".repeat(64);
  await act("reconciliation files begin", { ...on, ...range, file: wrong, sha256: wrong });
  await act("reconciliation files remove", { ...on, sha256: wrong, why });
  await act("reconciliation rows list", on);
  await act("reconciliation orders list", { ...on, within_ms: 60_000 });
  const put = [{ case: "clock", class: "clock_differs", ahead_ms: 3_600_000 }];
  const comparison = { revision: 1, comparison: randomUUID(), replaces: "" };
  await act("reconciliation cases put", { ...on, ...comparison, put, withdraw: [], totals: [] });
  await act("reconciliation cases list", on);
  await act("reconciliation cases show", { ...on, case: "clock" });
  await act("reconciliation cases decide", { ...on, case: "clock", decision: "explained", why });
  await act("reconciliation statements list");
  await act("reconciliation statements show", on);
  await act("reconciliation statements sign", { ...on, why });
  await act("reconciliation statements export", on);
  // It shows the balance that the newest statement states.
  await act("float show");
};

/** Has a webhook wait outside the queue: enabling the endpoint sends it. */
const parkDelivery = async (account: string): Promise<void> => {
  const event = { event: "wallet.low", account_id: account, occurrence: "1", body: "{}" } as const;
  const message = { ...event, endpoint: "1" };
  const delivery = newDelivery(message, { accountId: account, webhookId: "evt_1" }, Date.now());
  await recordProgress(service.ledger, delivery, { state: "pending", parked: true });
};

/** An event that no rule can apply, about a delivered purchase; and one about an open purchase. */
const runEvents = async (account: string, key: string): Promise<void> => {
  const { reference } = await service.buy(key, "08031234567");
  await service.controlSimulator("POST", "events", { reference, status: "failed" });
  await eventually(async () => expect(await listEvents(service.ledger, "0000")).toHaveLength(1));
  await act("events list");
  const [contradiction] = await listEvents(service.ledger, "0000");
  await act("events discard", { event: contradiction && storedEventId(contradiction), why });

  const open = await service.buy(key, "08000000004");
  const event = { kind: "event", mode: "live", status: "success", type: "airtime" } as const;
  const received_at = isoTime(Date.now());
  const upstreamReference = service.simulator?.state.purchases.at(-1)?.upstreamReference ?? "";
  await ageTransaction(service, open.reference);
  await recordEvent(
    service.ledger,
    { ...event, amount_kobo: koboFromNaira(500), received_at, reference: upstreamReference },
    "several_candidates",
  );
  const kept = (await listEvents(service.ledger, "0000")).find((each) => each.reference === upstreamReference);
  const id = kept && storedEventId(kept);
  await act("events candidates", { event: id });
  await act("events match", { event: id, reference: open.reference, accepts_differences: true, why });

  await eventually(async () => expect((await act("deliveries list", { account })).deliveries).not.toEqual([]));
  await act("deliveries show", { account, reference });
  await act("deliveries replay", { account, reference });
  await act("deliveries recover", { account, from: "2026-01-01" });
};

const runTransactions = async (account: string, key: string): Promise<void> => {
  const stuck = await service.buy(key, "08000000004", "order-1");
  await ageTransaction(service, stuck.reference);
  await act("transactions list", { account });
  await act("transactions show", { account, reference: "order-1" });
  const upstreamReference = service.simulator?.state.purchases.at(-1)?.upstreamReference;
  await act("transactions show", { reference: upstreamReference });
  await act("transactions refund", { reference: (await service.buy(key, "08031234567")).reference, why });
  await act("audit about", { subject: "order-1", account });
  await act("transactions open");
  await act("transactions ask", { reference: stuck.reference, why });
  await act("transactions take", { reference: stuck.reference });
  await act("transactions note", { reference: stuck.reference, note: why });
  await act("transactions resolve", { reference: stuck.reference, status: "failed", why });

  await service.refuseByLimit();
  const waiting = await service.buy(key, "08031234567");
  await act("transactions waiting");
  await act("upstream show");
  await act("upstream probe", {});
  await act("doctor");
  await act("transactions resolve", { reference: waiting.reference, status: "failed", why });
};

/** A message of each queue, which its consumer would take: so they are sent to the dead letters only. */
const runDeadLetters = async (): Promise<void> => {
  const sqs = openSqs();
  const { OUTCOMES_QUEUE_URL = "", DELIVERY_QUEUE_URL = "" } = process.env;
  for (const QueueName of [streamDeadLetters("prod"), scheduleDeadLetters("prod")]) {
    await sqs.send(new CreateQueueCommand({ QueueName }));
  }
  for (const url of [
    OUTCOMES_QUEUE_URL,
    DELIVERY_QUEUE_URL,
    new URL(streamDeadLetters("prod"), OUTCOMES_QUEUE_URL).href,
    new URL(scheduleDeadLetters("prod"), OUTCOMES_QUEUE_URL).href,
  ]) {
    const QueueUrl = url.endsWith("-dead-letters") ? url : `${url}-dead-letters`;
    await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: "{}" }));
  }
  sqs.destroy();
  await act("dead-letters list");
  await act("attention");
  await act("access people");
  await act("access review");
  await act("dead-letters redrive", { queue: "outcomes", why });
  await act("dead-letters redrive", { queue: "delivery", why });
  await act("announce", { from: "2026-01-01", why });
  await act("secrets set", { name: "upstream-key", why });
  await act("secrets rotate", { name: "webhook-token", why });
};

/** The kinds that a spec reads are those of both ways to read by key. */
const asRead = (grant: Grant): string => grant.replace("dynamodb:BatchGetItem", "dynamodb:GetItem");
const sorted = (grants: Iterable<Grant>): readonly string[] => [...new Set([...grants].map(asRead))].toSorted();

test("every action of the console was run", () => {
  expect(new Set<string>(needed.keys())).toEqual(new Set(Object.keys(actions)));
});

test.each(["console-api", "reconcile-statement", "answer-subjects"])(
  "the role of %s allows what its actions need, and besides only its log and its place in the VPC",
  (functionName) => {
    const [own] = stage
      .all("AWS::Lambda::Function")
      .filter(({ Properties }) => Properties.FunctionName === `prod-airtime-${functionName}`);
    const role = idIn(own?.Properties.Role);
    const allowed = stage
      .all("AWS::IAM::Policy")
      .filter(({ Properties }) => JSON.stringify(Properties.Roles).includes(`"${role}"`))
      .flatMap(grantsIn)
      .filter((grant) => !/^(logs|ec2):/.test(grant));
    const asked = [...needed].flatMap(([name, grants]) => (functionOf(name) === functionName ? grants : []));
    expect(sorted(allowed)).toEqual(sorted(asAllowed(asked, allowed)));
  },
);
