import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { CreateQueueCommand, SendMessageCommand } from "@aws-sdk/client-sqs";
import { beforeAll, expect, test, vi } from "vitest";
import * as z from "#zod";
import { API_URL_OUTPUT, outputOf, TOPIC_OUTPUTS } from "../../infra/outputs.ts";
import { hashApiKey } from "../../shared/access/api-key.ts";
import { parseConsoleSettings } from "../../shared/console/console-settings.ts";
import { methodOf } from "../../shared/contract/actions/action.ts";
import {
  type ActionName,
  actionNames,
  actionPath,
  actions,
  operationPath,
} from "../../shared/contract/actions/actions.ts";
import { koboFromNaira } from "../../shared/contract/values/money.ts";
import { firstCheckpoint, writeCheckpoint } from "../../shared/ledger/checkpoint.ts";
import { pkOfReference } from "../../shared/ledger/transaction.ts";
import { continueClosing } from "../../shared/periods/close-period.ts";
import { monthToClose } from "../../shared/periods/month-to-close.ts";
import { openSqs } from "../../shared/platform/aws/sdk.ts";
import { deadlineIn } from "../../shared/platform/deadline.ts";
import { scheduleDeadLetters, streamDeadLetters } from "../../shared/platform/queue-names.ts";
import { secretNames, secretTable } from "../../shared/platform/secret-table.ts";
import { isoTime } from "../../shared/platform/time.ts";
import { listEvents, recordEvent, storedEventId } from "../../shared/upstream-events/stored-event.ts";
import { newDelivery, recordProgress } from "../../shared/webhooks/delivery.ts";
import { stages } from "../../stages.ts";
import { adminProgram } from "../../tools/admin/program.ts";
import { onTerminal } from "../../tools/admin/terminal.ts";
import { type Invoke, loadFunctions } from "../../tools/local/functions.ts";
import { textClaims } from "../../tools/local/jwt-authorizer.ts";
import { listenOnLoopback } from "../../tools/local/loopback.ts";
import { adminDetails, adminFileOf } from "../../tools/local/service-file.ts";
import { localTableNames } from "../../tools/local/tables.ts";
import { printedSchema } from "../../tools/release/public-surface.ts";
import { anApiEvent } from "../builders/aws/api-event.ts";
import { type CannedAnswers, recordCalls, recordFunctionCalls, type SdkCall } from "../builders/aws/recorded-calls.ts";
import { asAllowed, type Grant, grantsIn, requiredGrants } from "../builders/iam/required-grants.ts";
import { anOldAccount, CLOSED_MONTH } from "../builders/ledger/old-account.ts";
import { eventually } from "../builders/run/eventually.ts";
import {
  ageForSubjects,
  ageTransaction,
  ageWallet,
  type OperatedService,
  startOperatedService,
  testTerminal,
} from "../builders/service/admin.ts";
import { everyFunction } from "../builders/templates/console.ts";
import { idIn as resourceId, resourceName, templatesOf } from "../builders/templates/templates.ts";
import { type Receiver, startReceiver } from "../builders/webhooks/receiver.ts";

/**
 * Goal: the policies of operators allow exactly what the command line asks of AWS, and what the runbook's own commands
 * ask; the roles of the functions of actions allow exactly what these ask. Method: every command runs on a stage, in this
 * process, and every action that has none, and their calls are recorded. A local service has the tables, queues and
 * secrets, and the functions.
 */
const stdin = vi.hoisted(() => ({ text: "" }));
vi.mock(import("../../tools/admin/stdin.ts"), () => ({ readStdin: async () => stdin.text }));

/** Whether a command only reads, by its name: `wallet fund`. */
const readOnly = vi.hoisted(() => new Map<string, boolean>());
vi.mock(import("../../tools/admin/command.ts"), async (importOriginal) => {
  const original = await importOriginal();
  return {
    ...original,
    addCommand: (group, spec) => {
      original.addCommand(group, spec);
      const groups: string[] = [];
      for (let at = group; at.parent !== null; at = at.parent) groups.unshift(at.name());
      readOnly.set([...groups, ...spec.usage.split(" ").slice(0, 1)].join(" "), spec.readOnly === true);
    },
  };
});

/** It works on tables outside the stage, which the person who restored them may use. */
const NOT_FOR_OPERATORS = "ledger carry-over";

const ACCOUNT = "123456789012";
Object.assign(stages.prod ?? {}, {
  account: ACCOUNT,
  region: "us-east-1",
  upstreamProfile: { reference: "all" },
  auditCopy: { days: 400 },
  front: { kind: "rest", callerRanges: ["198.51.100.0/24"], requestsPerAddress: 600 },
});

let service: OperatedService;
let receiver: Receiver;
let canned: CannedAnswers;
// It runs every command, twice.
beforeAll(async () => {
  for (mode of modes) await runOnNewService();
});

const runOnNewService = async (): Promise<void> => {
  service = await startOperatedService({ awsCalls: "sdk" });
  invoke = await loadActions();
  receiver = await startReceiver((response) => void response.writeHead(200).end());
  const { base_url, environment } = adminDetails.parse(
    JSON.parse(readFileSync(adminFileOf(service.serviceFile), "utf8")),
  );
  const outputs = [
    [API_URL_OUTPUT, base_url],
    [TOPIC_OUTPUTS.page, "AlarmsTopic"],
    [TOPIC_OUTPUTS.ticket, "AlarmsTickets"],
    ...Object.entries({ ...environment, AUDIT_COPY_BUCKET: "audit-copy" }).map(([variable, value]) => [
      outputOf(variable),
      value,
    ]),
  ];
  const Outputs = outputs.map(([OutputKey, OutputValue]) => ({ OutputKey, OutputValue }));
  canned = {
    GetCallerIdentity: { Account: ACCOUNT, Arn: `arn:aws:sts::${ACCOUNT}:assumed-role/operator/ada` },
    DescribeStacks: { Stacks: [{ Outputs }] },
    ListStackResources: {
      StackResourceSummaries: [{ ResourceType: "AWS::CloudWatch::Alarm", PhysicalResourceId: "alarm" }],
    },
    DescribeAlarms: { MetricAlarms: [{ AlarmName: "alarm" }] },
    GetAccountSettings: { AccountLimit: { ConcurrentExecutions: 1_000, UnreservedConcurrentExecutions: 1_000 } },
    ListEventSourceMappings: { EventSourceMappings: [{ State: "Enabled" }] },
    ListSubscriptionsByTopic: { Subscriptions: [] },
    DescribeTable: {},
    DescribeContinuousBackups: {},
    GetResourcePolicy: { Policy: JSON.stringify({ Statement: [] }) },
    GetObjectLockConfiguration: {},
    ListObjectVersions: { IsTruncated: false },
    // Only the direct policy allows it.
    ...(mode === "service" && {
      GetSecretValue: () => Promise.reject(Object.assign(new Error("denied"), { name: "AccessDeniedException" })),
    }),
  };
  const sqs = openSqs();
  for (const QueueName of [streamDeadLetters("prod"), scheduleDeadLetters("prod")]) {
    await sqs.send(new CreateQueueCommand({ QueueName }));
  }
  sqs.destroy();
  await runEveryCommand();
  await Promise.all([service.stop(), receiver.stop()]);
};

/** The functions of actions; what each asks of AWS. */
const askedBy = new Map<string, Grant[]>(
  ["console-api", "reconcile-statement", "answer-subjects"].map((name) => [name, []]),
);
recordFunctionCalls((name, call) => askedBy.get(name)?.push(...requiredGrants(call, stage)));

let invoke: Invoke;
/** The same functions in a stage that has dead letters of each kind, and where another person approves what moves money. */
const loadActions = async (): Promise<Invoke> => {
  vi.stubEnv("AWS_LAMBDA_FUNCTION_NAME", "prod-airtime-console-api");
  vi.stubEnv("AWS_CALLS", "sdk");
  vi.stubEnv("FOUR_EYES", JSON.stringify({ resolveAboveNaira: 10_000_000 }));
  const loaded = await loadFunctions(["console-api"], new URL("../../functions/", import.meta.url));
  vi.unstubAllEnvs();
  return loaded;
};

const pathOfOperation = new Map<string, ActionName>(actionNames.map((name) => [operationPath("operator", name), name]));
/** The actions that functions have run. */
const ran = new Set<ActionName>();

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

const answer = z.object({ statusCode: z.int(), body: z.string() });
const envelope = z.object({ data: z.record(z.string(), z.unknown()) });

/** Runs an action of `console-api` as the console sends it; resolves with what it answers. */
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
  const requestContext = { ...event.requestContext, authorizer: { jwt: { claims, scopes: null } } };
  const { statusCode, body } = answer.parse(await invoke("console-api", { ...event, requestContext }));
  expect(statusCode, `${name}: ${body}`).toBeOneOf([200, 202]);
  ran.add(name);
  const { data } = envelope.parse(JSON.parse(body));
  if (statusCode === 200) return data;
  // Another person decides on it.
  const { proposal } = z.object({ proposal: z.object({ proposal: z.string() }) }).parse(data).proposal;
  return act(decision, { proposal, why: "test" }, "bola");
};

/** What another person does with a proposal. */
let decision: "proposals approve" | "proposals reject" | "proposals break-glass" = "proposals approve";

/** Who performs the actions: the service, or the command itself, with `--direct`. */
const modes = ["service", "direct"] as const;
let mode: (typeof modes)[number] = "service";
/** What each command needs, by its name. */
const needed = { service: new Map<string, readonly Grant[]>(), direct: new Map<string, readonly Grant[]>() };

/** Commands whose output is not what the public surface says. */
const misprinted = new Map<string, string>();

/** Runs a command on the stage; resolves with what it prints. The name is as in `readOnly`, without arguments. */
const admin = async (name: string, ...args: readonly string[]): Promise<string> => {
  const { terminal, output } = testTerminal();
  const program = await adminProgram({ isQuiet: true });
  const direct = mode === "direct" ? ["--direct"] : [];
  const words = [...name.split(" "), ...args, "--stage", "prod", "--json", ...direct];
  const grants: Grant[] = [];
  const onCall = (call: SdkCall): void => void grants.push(...requiredGrants(call, stage));
  const send = globalThis.fetch;
  // The commands run one after the other, and no function of the service sends requests to these routes.
  vi.spyOn(globalThis, "fetch").mockImplementation(async (url, init) => {
    if (url instanceof URL && url.hostname.startsWith("apigateway.")) {
      grants.push(`apigateway:${init?.method ?? "GET"} on ::${url.pathname}`);
      return Response.json({ cloudwatchRoleArn: "arn:aws:iam::123456789012:role/logs" });
    }
    if (url instanceof URL && url.pathname.startsWith("/operations/")) {
      const action = pathOfOperation.get(url.pathname);
      if (action !== undefined) ran.add(action);
      grants.push(`execute-api:Invoke on ${init?.method}/operations/operator/*`);
    }
    return send(url, init);
  });
  try {
    await recordCalls({ canned, onCall }, () =>
      onTerminal(terminal, () => program.parseAsync(words, { from: "user" })),
    );
  } finally {
    vi.restoreAllMocks();
    needed[mode].set(name, [...(needed[mode].get(name) ?? []), ...grants]);
  }
  const printed = (await output()).stdout.trim();
  const action = actionNames.find((each) => each === name && !args.includes("--dry-run"));
  const { error } = (action && printedSchema(action).safeParse(JSON.parse(printed))) ?? {};
  if (error) misprinted.set(name, z.prettifyError(error));
  return printed;
};

/** Only the direct policy allows secrets: `doctor` does without them, and says what it leaves out. */
const expectDoctorWithoutSecrets = async (): Promise<void> => {
  const { checks } = doctorReport.parse(JSON.parse(await admin("doctor")));
  if (mode === "direct") return;
  expect(checks.filter(({ found }) => found.startsWith("could not be checked"))).toEqual([]);
  expect(checks).toContainEqual({
    check: "upstream's webhook",
    state: "skipped",
    found: "needs the permission to read its token, which only direct access has",
  });
};
const doctorReport = z.object({
  checks: z.array(z.object({ check: z.string(), state: z.string(), found: z.string() })),
});

/** A field of what a command prints. */
const idIn = (text: string, name: "account_id" | "key_id"): string =>
  String(z.record(z.string(), z.unknown()).parse(JSON.parse(text))[name]);

/** An event that no rule can apply, about a delivered purchase. */
const keptEvent = async (key: string): Promise<{ readonly event: string; readonly reference: string }> => {
  const { reference } = await service.buy(key, "08031234567");
  await service.controlSimulator("POST", "events", { reference, status: "failed" });
  const upstreamReference = service.simulator?.state.purchases.at(-1)?.upstreamReference;
  const kept = await eventually(async () => {
    const found = (await listEvents(service.ledger, "0000")).find((event) => event.reference === upstreamReference);
    if (found === undefined) throw new Error("The event was not kept");
    return found;
  });
  return { event: storedEventId(kept), reference };
};

const runEveryCommand = async (): Promise<void> => {
  const why = ["--why", "test"];
  await expectDoctorWithoutSecrets();
  await admin("secrets list");
  await admin("purchases show");
  await admin("purchases off", ...why);
  await admin("purchases on", ...why);
  await admin("purchases off", "--part", "data", ...why);
  await admin("purchases on", "--part", "data");

  await admin("catalog show");
  await admin("catalog diff");
  await expect(admin("catalog refresh")).rejects.toThrow("its own addresses");
  const plan = { id: 101, network_id: 1, name: "1GB", price: 500, validity: "30 days" };
  const data = { networks: [{ id: 1, name: "MTN", code: "mtn" }], data_plans: [plan] };
  await service.controlSimulator("PUT", "catalog", { status: true, message: "OK", data });
  await service.admin(["catalog", "refresh"]);
  await admin("catalog accept", ...why);

  const made = idIn(await admin("accounts create", "checkout"), "account_id");
  await admin("accounts list");
  await admin("attention");
  await admin("access people");
  await admin("dead-letters list");
  await admin("dead-letters redrive", "outcomes", ...why);
  await admin("notifications list");
  await expect(admin("notifications stop", "nobody", ...why)).rejects.toThrow("nobody has chosen no notifications");
  await admin("access review");
  await admin("accounts show", made);
  await admin("accounts restrict", made, ...why);
  await admin("accounts unrestrict", made, ...why);
  const closed = idIn(await admin("accounts create", "closed"), "account_id");
  await admin("accounts restrict", closed, ...why);
  await ageWallet(service, closed);
  await admin("accounts close", closed, ...why);
  await admin("accounts reopen", closed, ...why);
  await admin("accounts entitle", made, "--set", "vtu=100", "identity");
  await admin("accounts duplicates", made, "--window-s", "60");
  await admin("accounts limits", made, "--set", "day_naira=1000", "order_naira=500");
  await admin("accounts owners", made, "--set", "email:ada@example.com", "group:checkout team", ...why);
  await admin("ips allow", made, "203.0.113.7");
  await admin("ips list", made);
  await admin("ips disallow", made, "203.0.113.7");

  const { account, key, keyId } = await service.newApp();
  await admin("webhook set", account, `${receiver.url}old`);
  await admin("webhook set", account, receiver.url);
  await admin("webhook show", account);
  await admin("webhook events", account, "transaction.updated,wallet.low");
  await admin("webhook test", account);
  await parkDelivery(account);
  await admin("webhook disable", account);
  await admin("webhook enable", account);
  await admin("webhook secret rotate", account, ...why);
  await admin("webhook add", account, `${receiver.url}2`);
  await admin("webhook list", account);
  await admin("webhook remove", account, "2", ...why);

  await admin("prices set", account, "--kind", "airtime", "--percent", "1", ...why);
  await admin("margin report", "--from", "2026-11-01", "--to", "2026-11-30");
  await admin("refund-clock report", "--from", "2026-11-01", "--to", "2026-11-30");
  await admin("float fund", "--amount", "5000", "--id", "bank-2", ...why);
  await admin("float show");
  const { rules } = actions["prices list"].output.parse(JSON.parse(await admin("prices list", account)));
  await admin("prices remove", account, rules[0]?.rule_id ?? "", ...why);
  await admin("upstream probe");

  await admin("wallet fund", account, "5000", "--id", "bank-1", ...why);
  await admin("wallet adjust", account, "-5", "--id", "case-1", ...why);
  await admin("wallet fund", account, "5", "--id", "bank-3", ...why);
  await admin("wallet reverse", account, "--id", "bank-3", ...why);
  await admin("wallet threshold", account, "100");
  // The service decides proposals, whose commands ask nothing else of AWS.
  await admin("proposals list").catch(() => {});
  for (const decision of ["proposals approve", "proposals reject", "proposals break-glass"]) {
    const decided = admin(decision, "prop_000000000000000000", ...why);
    await expect(decided).rejects.toThrow(/There is no proposal|leave out --direct/);
  }
  await admin("wallet statement", account, "--from", "2026-01-01");
  await admin("wallet verify", account);
  // Only a checkpoint that is wrong is written.
  await writeCheckpoint(service.ledger, { ...firstCheckpoint(account), balance_kobo: 1 });
  await admin("wallet verify", account);
  await admin("wallet verify", "--all");

  const old = await anOldAccount(service.ledger, CLOSED_MONTH);
  if (mode === "service") {
    // What another run closed in another zone is replaced.
    const inUtc = await monthToClose(service.ledger, CLOSED_MONTH, { timeZone: "UTC", queueMinutes: 15 });
    await continueClosing(service.ledger, inUtc, { phase: "close", done: 0, accounts: 1 }, deadlineIn(9_000));
  }
  await admin("periods close", CLOSED_MONTH, ...why);
  await admin("periods list");
  await admin("periods show", CLOSED_MONTH);
  await admin("periods accounts", CLOSED_MONTH);
  await admin("periods verify", CLOSED_MONTH);
  await admin("ledger export", "--period", CLOSED_MONTH, "--format", "journal");

  stdin.text = key;
  await admin("keys find");
  const rotated = idIn(await admin("keys rotate", keyId), "key_id");
  await admin("keys revoke", rotated, ...why);
  const lost = await service.newApp();
  await service.ledger.db.delete({ TableName: localTableNames.access, Key: { pk: hashApiKey(lost.key) } });
  const drifted = await service.newApp();
  const drift = {
    Key: { pk: hashApiKey(drifted.key) },
    UpdateExpression: "ADD #permissions :more",
    ExpressionAttributeNames: { "#permissions": "permissions" },
    ExpressionAttributeValues: { ":more": new Set(["identity:retrieve"]) },
  };
  await service.ledger.db.update({ TableName: localTableNames.access, ...drift });
  await admin("keys create", account, "--mode", "live");
  await admin("keys reconcile", "--dry-run");
  if (mode === "direct") await admin("keys reconcile", ...why);
  else {
    await expect(admin("keys reconcile", ...why)).rejects.toThrow("Add --direct");
    await service.admin(["keys", "reconcile"]);
  }

  const check = await service.verifyNin(lost.key, { nin: "12345678900", reference: "check-1" });
  await admin("consents show", check.headers.get("x-transaction-reference") ?? "");
  const exported = await admin("consents export", "--account", account);
  stdin.text = z
    .object({ lines: z.array(z.string()) })
    .parse(JSON.parse(exported))
    .lines.join("\n");
  await admin("consents verify");
  stdin.text = "12345678900";
  for (const name of ["subjects report", "subjects erase"]) {
    const asked = admin(name, "nin", ...why);
    if (mode === "service") await asked;
    else await expect(asked).rejects.toThrow("leave out --direct");
  }
  // What is refunded of its orders is no longer counted.
  await admin("keys limits", lost.keyId, "--set", "month_orders=1000");
  await admin("keys list", lost.account);
  const stuck = await service.buy(lost.key, "08000000004", "order-1");
  await ageTransaction(service, stuck.reference);
  await admin("transactions list", "--open");
  await admin("transactions list", "--account", lost.account);
  await admin("transactions show", "order-1", "--account", lost.account);
  await admin("transactions show", service.simulator?.state.purchases.at(-1)?.upstreamReference ?? "");
  await admin("transactions refund", (await service.buy(lost.key, "08031234567")).reference, ...why);
  await admin("transactions ask", stuck.reference);
  await admin("transactions take", stuck.reference);
  await admin("transactions note", stuck.reference, "ticket 88");
  await admin("transactions resolve", stuck.reference, "failed", ...why);

  const first = await keptEvent(lost.key);
  await admin("events list");
  await admin("events discard", first.event, ...why);
  const open = await service.buy(lost.key, "08000000001");
  const upstreamReference = service.simulator?.state.purchases.at(-1)?.upstreamReference ?? "";
  const event = {
    kind: "event",
    mode: "live",
    status: "success",
    type: "airtime",
    amount_kobo: koboFromNaira(500),
  } as const;
  await recordEvent(
    service.ledger,
    { ...event, received_at: isoTime(Date.now()), reference: upstreamReference },
    "several_candidates",
  );
  await ageTransaction(service, open.reference);
  const [kept] = (await listEvents(service.ledger, "0000")).filter(({ reference }) => reference === upstreamReference);
  await admin("events match", kept === undefined ? "" : storedEventId(kept), open.reference, ...why);

  await admin("webhook set", lost.account, receiver.url);
  await admin("deliveries list", lost.account);
  await admin("deliveries show", first.reference);
  await admin("deliveries replay", first.reference);
  await admin("deliveries recover", lost.account, "--from", "2026-01-01");
  await admin("announce", "--from", "2026-01-01", ...why);
  await admin("audit", account);
  await admin("audit", "order-1", "--account", lost.account);
  await admin("audit");
  // An auditor has the policy of that role, which allows no more.
  const actionsOnly = /^(execute-api:|cloudformation:DescribeStacks )/;
  if (mode === "service") expect(needed.service.get("audit")?.filter((grant) => !actionsOnly.test(grant))).toEqual([]);
  await admin("audit", "verify");

  const columns = join(service.folder, "columns.json");
  const statement = join(service.folder, "statement.csv");
  const map = { columns: { amount: "amount", status: "status", time: "time" }, amount: { unit: "kobo" }, statuses: {} };
  writeFileSync(columns, JSON.stringify({ ...map, time: { format: "ISO 8601", zone: "Africa/Lagos" } }));
  writeFileSync(statement, "amount,status,time\n50000,success,2026-10-05T12:00:00Z\n");
  const day = mode === "direct" ? "2026-10-05" : "2026-10-06";
  await ageTransaction(service, first.reference, Date.now() - Date.parse(`${day}T12:00:00Z`));
  const importFile = () => admin("reconciliation import", statement, "--day", day, "--columns", columns);
  await importFile();
  const { files } = z
    .object({ files: z.array(z.object({ sha256: z.string() })) })
    .parse(JSON.parse(await admin("reconciliation statements show", day)));
  await admin("reconciliation files remove", day, files[0]?.sha256 ?? "", ...why);
  await importFile();
  const { cases } = z
    .object({ cases: z.array(z.object({ case: z.string() })) })
    .parse(JSON.parse(await admin("reconciliation cases list", day)));
  await admin("reconciliation cases show", day, cases[0]?.case ?? "");
  for (const { case: id } of cases) await admin("reconciliation cases decide", day, id, "explained", ...why);
  await admin("reconciliation statements list");
  await admin("reconciliation statements show", day);
  await admin("reconciliation statements sign", day, ...why);
  const pack = await admin("reconciliation export", day);
  stdin.text = z
    .object({ lines: z.array(z.string()) })
    .parse(JSON.parse(pack))
    .lines.join("\n");
  expect(JSON.parse(await admin("reconciliation verify"))).toMatchObject({ ok: true, compared: true });

  if (mode === "service") await runOtherActions(account, old, kept === undefined ? "" : storedEventId(kept));
  await service.refuseByLimit();
  const waiting = await service.buy(lost.key, "08031234567");
  await admin("transactions list", "--waiting");
  await admin("transactions show", waiting.reference);
  await admin("doctor");
  await admin("transactions resolve", waiting.reference, "failed", ...why);

  // Last, because the upstream does not know the key.
  stdin.text = `test_${"k".repeat(40)}`;
  for (const name of secretNames) {
    const { kind } = secretTable[name];
    if (kind !== "fixed") await admin(kind === "filled" ? "secrets set" : "secrets rotate", name, ...why);
  }
  if (mode === "direct") await admin("secrets rotate", "reference-key", ...why);
};

/** Has a webhook wait outside the queue: enabling the endpoint sends it. */
const parkDelivery = async (account: string): Promise<void> => {
  const event = { event: "wallet.low", account_id: account, occurrence: "1", body: "{}" } as const;
  const delivery = newDelivery({ ...event, endpoint: "1" }, { accountId: account, webhookId: "evt_1" }, Date.now());
  await recordProgress(service.ledger, delivery, { state: "pending", parked: true });
};

/** The actions that no command runs, and those that ask more of AWS in a stage or for another person's approval. */
const runOtherActions = async (account: string, old: string, event: string): Promise<void> => {
  const why = "test";
  await act("me");
  const chat = createServer((_request, response) => void response.end("ok"));
  const slack_url = `http://127.0.0.1:${await listenOnLoopback(chat)}/`;
  await act("notifications choose", { email: ["wallet.low"], slack: ["wallet.low"], slack_url });
  await act("notifications show");
  await admin("notifications stop", "ada@example.com", "--why", why);
  chat.close();
  await act("search", { text: "0803 123 4567" });
  await act("access people");
  await act("audit list");
  await act("purchases state", { account });
  await act("ips mine", { account });
  await act("ips ranges", {});
  await act("consents list", { account });
  await act("periods lines", { month: CLOSED_MONTH, account: old });
  await act("events candidates", { event });
  await act("upstream show");
  await act("wallet show", { account });
  await act("wallet low");
  // It is compared with the payment that was booked.
  await expect(act("float fund", { amount_kobo: 5_000_00, id: "bank-2", why })).rejects.toThrow("was booked already");
  for (decision of ["proposals reject", "proposals break-glass", "proposals approve"] as const) {
    await act("wallet fund", { account, amount_kobo: 1_000_00, id: `bank-${decision}`.replaceAll(" ", "-"), why });
  }
  // It shows the balance that the newest statement states.
  await act("float show");
  await act("float payments");
  await act("statistics show", { hours: 24 });
  await act("statistics account", { account });
  await act("statistics balances", { account });
  await runSubjects();
  await runDeadLetters();
};

/** A person with a check, and a phone number with an order, an event about it, and a webhook that failed. */
const runSubjects = async (): Promise<void> => {
  const { account, key } = await service.newApp();
  const check = await service.verifyNin(key, { nin: "12345678911", reference: "check-2" });
  const { reference } = await service.buy(key, "08055556666");
  await ageForSubjects(service, check.headers.get("x-transaction-reference") ?? "");
  await ageForSubjects(service, reference);
  const pk = pkOfReference(reference) ?? "";
  const event = { reference: "u-1", status: "failed", phone: { masked: "0805****666" } } as const;
  await recordEvent(service.ledger, event, "contradiction", pk);
  await admin("webhook set", account, receiver.url);
  const message = { event: "transaction.updated", transaction_pk: pk, status: "success", endpoint: "1" } as const;
  const attempt = { number: 1, at: isoTime(Date.now()), outcome: "status", response_body: "no", duration_ms: 1 };
  const delivery = newDelivery(message, { accountId: account, webhookId: "w-1" }, Date.now());
  const { table: TableName, db } = service.ledger;
  await db.put({ TableName, Item: { ...delivery, state: "exhausted", attempts: [attempt] } });
  for (const [kind, number] of [
    ["nin", "12345678911"],
    ["phone_number", "08055556666"],
  ] as const) {
    stdin.text = number;
    for (const name of ["subjects report", "subjects erase"]) await admin(name, kind, "--why", "test");
  }
};

/** A message of each queue, which its consumer would take: so they are sent to the dead letters only. */
const runDeadLetters = async (): Promise<void> => {
  const sqs = openSqs();
  const { OUTCOMES_QUEUE_URL = "", DELIVERY_QUEUE_URL = "" } = process.env;
  for (const QueueUrl of [
    `${OUTCOMES_QUEUE_URL}-dead-letters`,
    `${DELIVERY_QUEUE_URL}-dead-letters`,
    new URL(streamDeadLetters("prod"), OUTCOMES_QUEUE_URL).href,
    new URL(scheduleDeadLetters("prod"), OUTCOMES_QUEUE_URL).href,
  ]) {
    await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: "{}" }));
  }
  sqs.destroy();
  for (const name of ["dead-letters list", "attention", "doctor"] as const) await act(name);
  for (const queue of ["outcomes", "delivery"]) await act("dead-letters redrive", { queue, why: "test" });
};

const { service: stage, administrator } = templatesOf("prod", everyFunction);

/** The runbook's commands of the AWS CLI, and what AWS asks for each. Only with `--direct` are they used for outcomes of orders. */
const runbookGrants = (isDirect: boolean): ReadonlyMap<string, readonly Grant[]> => {
  const resources = stage
    .all("AWS::SQS::Queue")
    .filter(({ Properties: { QueueName } }) => isDirect || !String(QueueName).includes("-outcomes"))
    .map(({ id, Properties: { QueueName } }) => ({
      name: resourceName({ Ref: id }),
      isDeadLetters: String(QueueName).endsWith("-dead-letters"),
    }));
  const onQueues = (isDeadLetters: boolean, ...actions: readonly string[]): readonly Grant[] =>
    resources
      .filter((queue) => queue.isDeadLetters === isDeadLetters)
      .flatMap(({ name }) => actions.map((action): Grant => `sqs:${action} on ${name}`));
  // Source: AWS, "Learn how to configure a dead-letter queue redrive in Amazon SQS", permissions.
  const redrive = [
    ...onQueues(true, "StartMessageMoveTask", "ReceiveMessage", "DeleteMessage", "GetQueueAttributes"),
    ...onQueues(false, "SendMessage"),
  ];
  return new Map([
    ["sqs start-message-move-task", redrive],
    ["sqs purge-queue", onQueues(true, "PurgeQueue")],
    ["sqs receive-message", onQueues(true, "ReceiveMessage")],
    ["sqs delete-message", onQueues(true, "DeleteMessage")],
    ["lambda list-event-source-mappings", ["lambda:ListEventSourceMappings on *"]],
  ]);
};

const grantsOf = (name: string): readonly Grant[] => {
  const policy = administrator
    .all("AWS::IAM::ManagedPolicy")
    .find(({ Properties }) => Properties.ManagedPolicyName === name);
  if (policy === undefined) throw new Error(`There is no policy ${name}`);
  return grantsIn(policy);
};

/** `doctor` asks for secrets, and does without them. */
const isNoSecret = (grant: Grant): boolean => !grant.startsWith("secretsmanager:GetSecretValue ");

/** The kinds that a spec reads are those of both ways to read by key. */
const asRead = (grant: Grant): Grant =>
  grant.startsWith("dynamodb:BatchGetItem on ") ? `dynamodb:GetItem on ${grant.split(" on ")[1]}` : grant;

const sorted = (grants: Iterable<Grant>): readonly Grant[] => [...new Set(grants)].toSorted();

test("every command of the command line was run, except the one that works on tables outside the stage", () => {
  for (const each of modes) {
    expect([...readOnly.keys()].filter((name) => !needed[each].has(name))).toEqual([NOT_FOR_OPERATORS]);
  }
});

test("every action was run by its function", () => {
  expect(actionNames.filter((name) => !ran.has(name))).toEqual([]);
});

test("every action's command prints with --json what the public surface says", () => {
  expect(Object.fromEntries(misprinted)).toEqual({});
});

test("the reading policy allows what the reading commands need, and nothing else", () => {
  const reading = [...needed.service]
    .filter(([name]) => readOnly.get(name))
    .flatMap(([, grants]) => grants.filter(isNoSecret));
  const allowed = grantsOf("prod-airtime-operator-read");
  expect(sorted(allowed)).toEqual(sorted(asAllowed(reading, allowed)));
});

test("the acting policy allows what all commands and the runbook's own need, and nothing else", () => {
  const all = [...needed.service.values(), ...runbookGrants(false).values()].flat().filter(isNoSecret);
  const allowed = grantsOf("prod-airtime-operator-act");
  expect(sorted(allowed)).toEqual(sorted(asAllowed(all, allowed)));
});

test("the direct policies allow what all commands need with --direct, and the runbook's own, and nothing else", () => {
  const all = [...needed.direct.values(), ...runbookGrants(true).values()].flat();
  const allowed = ["prod-airtime-operator-direct-read", "prod-airtime-operator-direct"].flatMap(grantsOf);
  expect(sorted(allowed)).toEqual(sorted(asAllowed(all, allowed)));
});

test.each([...askedBy.keys()])(
  "the role of %s allows what its actions need, and besides only its log and its place in the VPC",
  (functionName) => {
    const [own] = stage
      .all("AWS::Lambda::Function")
      .filter(({ Properties }) => Properties.FunctionName === `prod-airtime-${functionName}`);
    const role = resourceId(own?.Properties.Role);
    const allowed = stage
      .all("AWS::IAM::Policy")
      .filter(({ Properties }) => JSON.stringify(Properties.Roles).includes(`"${role}"`))
      .flatMap(grantsIn)
      .filter((grant) => !/^(logs|ec2):/.test(grant));
    const asked = asAllowed(askedBy.get(functionName) ?? [], allowed);
    expect(sorted(allowed.map(asRead))).toEqual(sorted(asked.map(asRead)));
  },
);

test("the permissions of every AWS command in the runbook are known", () => {
  const commands = [...readFileSync("docs/runbook.md", "utf8").matchAll(/\baws ([a-z]+ [a-z-]+)/g)].map(
    ([, name]) => name,
  );
  expect(new Set(commands)).toEqual(new Set(runbookGrants(true).keys()));
});
