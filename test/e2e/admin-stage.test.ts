import { readFileSync } from "node:fs";
import { CreateQueueCommand, PurgeQueueCommand, SendMessageCommand } from "@aws-sdk/client-sqs";
import { STSServiceException } from "@aws-sdk/client-sts";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import * as z from "#zod";
import { API_URL_OUTPUT, outputOf, TOPIC_OUTPUTS } from "../../infra/outputs.ts";
import { auditDenials } from "../../infra/tables.ts";
import { koboFromNaira } from "../../shared/contract/values/money.ts";
import { auditEntry, auditPut } from "../../shared/ledger/audit.ts";
import { approvingClient, putProposal } from "../../shared/ledger/proposal.ts";
import { transactionPk } from "../../shared/ledger/schema.ts";
import { transactUnlessRefused } from "../../shared/ledger/transact.ts";
import { referenceOf } from "../../shared/ledger/transaction.ts";
import { openSecretsManager, openSqs } from "../../shared/platform/aws/sdk.ts";
import { scheduleDeadLetters, streamDeadLetters } from "../../shared/platform/queue-names.ts";
import { secret } from "../../shared/platform/secrets.ts";
import { isoTime } from "../../shared/platform/time.ts";
import { recordEvent, storedEventId, storedEventPk } from "../../shared/upstream-events/stored-event.ts";
import { stages } from "../../stages.ts";
import { setEnvironment } from "../../tools/local/local-aws.ts";
import { adminDetails, adminFileOf } from "../../tools/local/service-file.ts";
import { type CannedAnswers, recordCalls } from "../builders/aws/recorded-calls.ts";
import { type DynamoDbAhead, startDynamoDbAhead } from "../builders/dynamodb/dynamodb-ahead.ts";
import { aTransaction, newTransactionPk } from "../builders/ledger/transaction.ts";
import {
  type AdminRun,
  type OperatedService,
  runCommand,
  startOperatedService,
  type Typed,
} from "../builders/service/admin.ts";

/**
 * Goal: --stage finds a stage by the outputs of its stack. What CloudFormation, Lambda, SNS and STS answer is written here;
 * the stack's outputs name the tables, queues and secrets of a local service.
 */
const committed = { ...stages.prod };
/** The stage prod as an operator has it, with an account in the place of the placeholder and a profile. */
const operated = { account: "123456789012", region: "us-east-1", upstreamProfile: { reference: "documented" } };
Object.assign(stages.prod ?? {}, operated);
let service: OperatedService;
/** Whether STS refuses the credentials, and the number of requests. */
const sts = { refuses: false, requests: 0 };
const CALLER = "arn:aws:sts::123456789012:assumed-role/operator/ada";
/** The caller of the local service's gateway. */
const VERIFIED = "arn:aws:iam::000000000000:user/local";
const TICKETS = "arn:aws:sns:eu-west-1:123456789012:tickets";
type Subscriptions = readonly (readonly [address: string, arn: string])[];
const CONFIRMED: Subscriptions = [["ada@example.com", "arn:aws:sns:eu-west-1:123456789012:alarms:1"]];
/** AWS gives an ARN to an address once it is confirmed. */
const PENDING: Subscriptions = [["ngozi@example.com", "PendingConfirmation"]];
const ALARMS: readonly string[] = [
  "Prod-Service-OutcomesAge",
  "Prod-Service-SellsNothing",
  "Prod-Administrator-Writes",
];
const NO_ALARM: readonly string[] = [];
const STREAM = { StreamSpecification: { StreamEnabled: true, StreamViewType: "NEW_AND_OLD_IMAGES" } };
const PROTECTED: object = { DeletionProtectionEnabled: true, ...STREAM };
const HTTP: object = { kind: "http" };
const NO_ROLE: object = {};
const limitsOf = (ConcurrentExecutions: number, UnreservedConcurrentExecutions: number) => ({
  ConcurrentExecutions,
  UnreservedConcurrentExecutions,
});
/** As infra/constructs/data.ts makes it, with changes of its statement. */
const policyWith = (changes: object): object | "none" => ({
  Version: "2012-10-17",
  Statement: [{ Effect: "Deny", Principal: { AWS: "*" }, Resource: "*", Action: auditDenials, ...changes }],
});

/** What AWS says of the account and of the parts of a stage. */
const inOrder = {
  limits: limitsOf(1_000, 120),
  deniesLimits: false,
  /** The state of every mapping. */
  mapping: { State: "Enabled", LastProcessingResult: "OK" },
  /** The functions that have one, each on a page of the list; that of the outcomes queue invokes an alias. */
  mapped: ["apply-upstream-event:current", "deliver-webhook", "enqueue-webhooks", "attest-audit"],
  pages: CONFIRMED,
  tickets: CONFIRMED,
  /** The alarms of the stacks that CloudWatch has; those whose actions are switched off, and those that are raised. */
  alarms: ALARMS,
  alarmsOff: NO_ALARM,
  alarmsRaised: NO_ALARM,
  table: PROTECTED,
  recovery: "ENABLED",
  auditPolicy: policyWith({}),
  front: HTTP,
  gateway: NO_ROLE,
  /** Of events that do not come from the upstream. */
  refusesAddress: false,
};
let account = inOrder;

let prodOutputs: ReadonlyMap<string, string>;
/** Undefined while the stack does not exist. */
let sandboxOutputs: ReadonlyMap<string, string> | undefined;
let dynamodb: DynamoDbAhead;
beforeEach(() => {
  Object.assign(sts, { refuses: false, requests: 0 });
  account = inOrder;
  sandboxOutputs = undefined;
  dynamodb.aheadMs = 0;
});
beforeAll(async () => {
  service = await startOperatedService();
  const details = adminDetails.parse(JSON.parse(readFileSync(adminFileOf(service.serviceFile), "utf8")));
  const outputs = new Map([
    [API_URL_OUTPUT, details.base_url],
    [TOPIC_OUTPUTS.page, "arn:aws:sns:eu-west-1:123456789012:alarms"],
    [TOPIC_OUTPUTS.ticket, TICKETS],
  ]);
  for (const [variable, value] of Object.entries(details.environment)) outputs.set(outputOf(variable), value);
  prodOutputs = outputs;
  const sqs = openSqs();
  for (const stage of ["prod", "sandbox"]) {
    for (const QueueName of [streamDeadLetters(stage), scheduleDeadLetters(stage)]) {
      await sqs.send(new CreateQueueCommand({ QueueName }));
    }
  }
  sqs.destroy();
  dynamodb = await startDynamoDbAhead(service.dynamodb.endpoint);
});
afterAll(async () => {
  Object.assign(stages.prod ?? {}, { front: undefined, ...committed });
  await dynamodb.stop();
  await service.stop();
});

/** As the SDK throws it. */
const failWith = (name: string, message: string): Promise<never> =>
  Promise.reject(Object.assign(new Error(message), { name }));

/** What AWS answers, where a local service has no part for it. */
const canned: CannedAnswers = {
  GetAccountSettings: () =>
    account.deniesLimits
      ? failWith(
          "AccessDeniedException",
          `User: ${CALLER} is not authorized to perform: lambda:GetAccountSettings because`,
        )
      : { AccountLimit: account.limits },
  ListEventSourceMappings: ({ Marker = 0 }) => {
    const { mapping, mapped } = account;
    const place = Number(Marker);
    const stage = sandboxOutputs === undefined ? "prod" : "sandbox";
    const FunctionArn = `arn:aws:lambda:eu-west-1:123456789012:function:${stage}-airtime-${mapped[place]}`;
    const isLast = place + 1 === mapped.length;
    return { EventSourceMappings: [{ ...mapping, FunctionArn }], ...(!isLast && { NextMarker: String(place + 1) }) };
  },
  ListStackResources: ({ StackName }) => ({
    StackResourceSummaries: ALARMS.filter((name) => name.startsWith(`${StackName}-`)).map((PhysicalResourceId) => ({
      PhysicalResourceId,
      ResourceType: `AWS::CloudWatch::${isComposite(PhysicalResourceId) ? "CompositeAlarm" : "Alarm"}`,
    })),
  }),
  DescribeAlarms: ({ AlarmNames }) => {
    const asked = account.alarms.filter((name) => z.array(z.string()).parse(AlarmNames).includes(name));
    const described = asked.map((AlarmName) => ({
      AlarmName,
      ActionsEnabled: !account.alarmsOff.includes(AlarmName),
      StateValue: account.alarmsRaised.includes(AlarmName) ? "ALARM" : "OK",
    }));
    return {
      MetricAlarms: described.filter(({ AlarmName }) => !isComposite(AlarmName)),
      CompositeAlarms: described.filter(({ AlarmName }) => isComposite(AlarmName)),
    };
  },
  GetCallerIdentity: () => {
    sts.requests += 1;
    const refusal = { name: "InvalidClientTokenId", message: "The security token is not valid" };
    if (sts.refuses) throw new STSServiceException({ ...refusal, $fault: "client", $metadata: {} });
    return { Arn: CALLER, UserId: "AROA:ada", Account: "123456789012" };
  },
  ListSubscriptionsByTopic: ({ TopicArn }) => ({
    Subscriptions: (TopicArn === TICKETS ? account.tickets : account.pages).map(([Endpoint, SubscriptionArn]) => ({
      Endpoint,
      SubscriptionArn,
    })),
  }),
  DescribeStacks: ({ StackName }) => {
    const outputs =
      StackName === "Prod-Service" ? prodOutputs : StackName === "Sandbox-Service" ? sandboxOutputs : undefined;
    if (outputs === undefined) return failWith("ValidationError", `Stack with id ${StackName} does not exist`);
    return { Stacks: [{ Outputs: [...outputs].map(([OutputKey, OutputValue]) => ({ OutputKey, OutputValue })) }] };
  },
  DescribeTable: () => ({ Table: account.table }),
  DescribeContinuousBackups: () => ({
    ContinuousBackupsDescription: {
      ContinuousBackupsStatus: "ENABLED",
      PointInTimeRecoveryDescription: { PointInTimeRecoveryStatus: account.recovery },
    },
  }),
  GetResourcePolicy: () =>
    account.auditPolicy === "none"
      ? failWith("PolicyNotFoundException", "Resource-based policy not found")
      : { Policy: JSON.stringify(account.auditPolicy), RevisionId: "1" },
};
const isComposite = (alarm: string): boolean => alarm.endsWith("Nothing");

/** The tables, queues and secrets are the local service's, whose endpoints this process's environment names. */
const onStage = (stage: string, ...args: readonly string[]): Promise<AdminRun> =>
  runOnStage([...args, "--stage", stage]);

/** The same at a terminal, where a person types this. */
const atTerminal = (typed: Typed, ...args: readonly string[]): Promise<AdminRun> =>
  runOnStage([...args, "--stage", "prod"], { stdin: typed, isTTY: true });

const runOnStage = async (args: readonly string[], options: { stdin?: Typed; isTTY?: boolean } = {}) => {
  const restoreEnvironment = setEnvironment({ AWS_ENDPOINT_URL_DYNAMODB: dynamodb.endpoint });
  const send = globalThis.fetch;
  const fetched = vi.spyOn(globalThis, "fetch").mockImplementation(async (url, init) => {
    if (String(url).startsWith("https://apigateway.")) return Response.json(account.gateway);
    if (!account.refusesAddress || !String(url).includes("/webhooks/upstream/")) return send(url, init);
    const body = { status: false, message: "The IP address 198.51.100.7 is not whitelisted" };
    return Response.json(body, { status: 403, headers: { "X-Error-Code": "ip_not_whitelisted" } });
  });
  try {
    return await recordCalls({ canned, onCall: () => {} }, () =>
      runCommand(args, { serviceFile: "/nowhere/service.json", ...options }),
    );
  } finally {
    fetched.mockRestore();
    restoreEnvironment();
  }
};

test("a command with --stage works on the tables of that stage", async () => {
  const made = await onStage("prod", "accounts", "create", "checkout", "--json");
  expect(made).toMatchObject({ code: 0, stderr: "" });
  const { account_id } = z.object({ account_id: z.string() }).parse(JSON.parse(made.stdout));
  expect((await service.admin(["accounts", "list"])).stdout).toContain(account_id);
});

test("a stage that is not in stages.ts is refused without a call to AWS", async () => {
  expect(await onStage("nope", "doctor")).toEqual({
    code: 2,
    stdout: "",
    stderr: 'There is no stage "nope" in stages.ts. Known: sandbox, prod.\n',
  });
});

/** What doctor of the stage ends with, and the beginnings of some of its lines. */
const expectDoctor = async (says: Partial<typeof inOrder>, exitCode: number, ...lines: readonly string[]) => {
  account = { ...inOrder, ...says };
  Object.assign(stages.prod ?? {}, { front: account.front });
  const { code, stdout } = await onStage("prod", "doctor");
  for (const line of lines)
    expect([code, stdout]).toEqual([exitCode, expect.stringMatching(new RegExp(`^${line}`, "m"))]);
};
const REST = { kind: "rest", callerRanges: ["198.51.100.0/24"] };
const [firstDenial = "", ...otherDenials] = auditDenials;

test("doctor finds that a stage is as its stacks make it", async () => {
  await expectDoctor(
    { limits: limitsOf(1_000, 100) },
    0,
    "upstream key +ok +was accepted .* ago, when the catalog was fetched",
    "limits +ok +1000 concurrent executions in this account and region, 900 of them reserved; each key may",
    "consumers +ok +all queues and the stream are read",
    "alarms +ok .*any hour: confirmed subscriptions: 1; the others: confirmed subscriptions: 1",
    "alarm actions +ok +3 alarms may notify, and none is raised",
    "access logs +skipped",
    "callers' ranges +skipped",
    "tables +ok +can be restored to any second",
    "audit policy +ok +nobody may change or delete an entry",
  );
});

test("doctor has a look at executions that could be reserved and at an address to confirm, not at a new mapping or at access logs with a role", async () => {
  await expectDoctor(
    {
      limits: limitsOf(1_000, 350),
      mapping: { State: "Enabled", LastProcessingResult: "No records processed" },
      pages: [...CONFIRMED, ...PENDING],
      front: REST,
      gateway: { cloudwatchRoleArn: "arn:aws:iam::123456789012:role/logs" },
    },
    0,
    'limits +look .*reservedConcurrency .* to {"purchase":200,"receive-upstream-event":20} and deploy',
    "consumers +ok ",
    "alarms +look .*any hour: confirmed subscriptions: 1, ngozi@example.com has not c",
    "access logs +ok +API Gateway writes them as arn:aws:iam",
    "callers' ranges +look +callerRanges lacks 2 ranges that whitelists allow: 127.0.0.1 ::1 ",
    'callers. ranges .* Set callerRanges .* to \\["127.0.0.1","198.51.100.0/24","::1"\\] and deploy',
  );
});

test("doctor finds each part of a stage that was made by hand in a new account wrong", async () => {
  await expectDoctor(
    {
      limits: limitsOf(10, 10),
      mapping: { State: "Disabled", LastProcessingResult: "OK" },
      pages: PENDING,
      front: { ...REST, callerRanges: ["127.0.0.0/8", "::1"] },
      gateway: { throttleSettings: {} },
      table: STREAM,
      auditPolicy: "none",
    },
    1,
    "limits +wrong .*only 10 concurrent executions in this account and region, 0 of them reserved: further ones",
    'limits .*the queues alone may use 30 .*set maxConcurrency .* to {"outcomes":2,"delivery":2} and deploy',
    "consumers +wrong +apply-upstream-event: its mapping is Disabled; deliver-webhook: ",
    "alarms +wrong .*any hour: reach nobody, ngozi@example.com has not confirmed",
    "access logs +wrong +API Gateway has no role",
    "callers' ranges +ok +callerRanges has what the whitelists allow: 2 ranges",
    "tables +wrong +(\\S+ is not protected from deletion(; |  )){3}",
    `audit policy +wrong .* does not deny everybody ${auditDenials.join(", ")} `,
  );
});

test("doctor finds too few executions, a broken mapping, nobody to page and no recovery", async () => {
  await expectDoctor(
    {
      limits: limitsOf(1_000, 99),
      mapping: { State: "Enabled", LastProcessingResult: "PROBLEM: Function call failed" },
      pages: [],
      recovery: "DISABLED",
      auditPolicy: policyWith({ Action: otherDenials }),
    },
    1,
    "limits +wrong .*Ask AWS for 1001 or more: Service Quotas, AWS Lambda, Concurrent executions",
    "consumers +wrong .*enqueue-webhooks: PROBLEM: Function call failed",
    "alarms +wrong .*any hour: reach nobody; the others: confirmed subscriptions: 1 .*--topic-arn .*:alarms ",
    "tables +wrong +(\\S+ has no point-in-time recovery(; |  )){3}",
    `audit policy +wrong .* does not deny everybody ${firstDenial} `,
  );
});

test("doctor finds a mapping, a stream and people for tickets missing, and an audit policy that allows", async () => {
  await expectDoctor(
    {
      limits: limitsOf(1_000, 349),
      mapped: inOrder.mapped.filter((name) => name !== "deliver-webhook"),
      tickets: [],
      table: { DeletionProtectionEnabled: true },
      auditPolicy: policyWith({ Effect: "Allow" }),
    },
    1,
    "limits +ok .*each key may send",
    "consumers +wrong +deliver-webhook: has no mapping",
    "alarms +wrong .*the others: reach nobody .*--topic-arn .*:tickets .*--notification-endpoint operations@",
    "tables +wrong +(\\S+ has no stream [a-z ]+(; |  )){2}",
    "audit policy +wrong",
  );
});

test("doctor names the alarms that were deleted, and those whose actions were switched off with the command that switches them on", async () => {
  const [age = "", nothing = "", writes = ""] = ALARMS;
  const left = { alarms: [nothing, writes], alarmsOff: [nothing, writes], alarmsRaised: [writes] };
  const command = `aws cloudwatch enable-alarm-actions --alarm-names ${nothing} ${writes}`;
  const line = `deleted: ${age}; raised: ${writes}; switched off: ${nothing} ${writes} .*docs/deployment.md. .* ${command}$`;
  await expectDoctor(left, 1, `alarm actions +wrong +${line}`);
});

test.each([
  ["deleted", { alarms: ALARMS.slice(1) }],
  ["switched off", { alarmsOff: ALARMS.slice(0, 1) }],
])("doctor is wrong about a stage of which one alarm is %s", async (found, says) => {
  await expectDoctor(says, 1, `alarm actions +wrong +${found}: ${ALARMS[0]} `);
});

test("doctor names the alarms that are raised, because they do not notify again", async () => {
  const alarmsRaised = ALARMS.slice(0, 2);
  await expectDoctor({ alarmsRaised }, 0, `alarm actions +look +raised: ${alarmsRaised.join(" ")} +.*docs/runbook.md`);
});

test.each([
  ["one role", { Principal: { AWS: "arn:aws:iam::123456789012:role/r" } }],
  ["some requests", { Condition: { Bool: { "aws:SecureTransport": "false" } } }],
  ["one index", { Resource: "arn:aws:dynamodb:us-east-1:123456789012:table/audit/index/i" }],
])("doctor of a stage whose audit policy is of %s exits with 1", async (_of, changes) => {
  await expectDoctor({ auditPolicy: policyWith(changes) }, 1, "audit policy +wrong");
});

test("doctor of a stage names the permission that the operator's credentials lack, and the policy that has it", async () => {
  const denied = "could not be checked \\(AccessDeniedException: lambda:GetAccountSettings\\)";
  const todo = "Your AWS credentials lack lambda:GetAccountSettings: the policy prod-airtime-operator-read allows it";
  await expectDoctor({ deniesLimits: true }, 1, `limits +wrong +${denied} +${todo}`);
});

test("dead letters of the stream and of the schedules make doctor of a stage exit with 1", async () => {
  const sqs = openSqs();
  const urls = [streamDeadLetters("prod"), scheduleDeadLetters("prod")].map(
    (queue) => new URL(queue, process.env.OUTCOMES_QUEUE_URL).href,
  );
  onTestFinished(async () => {
    for (const QueueUrl of urls) await sqs.send(new PurgeQueueCommand({ QueueUrl }));
    sqs.destroy();
  });
  for (const QueueUrl of urls) await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: "{}" }));
  await expectDoctor({}, 1, "dead letters +wrong +stream: 1, schedules: 1");
});

test("doctor of a sandbox without console, upstream key, token, catalog, alarm address and quota exits with 0", async () => {
  const absent = "secret-without-value";
  sandboxOutputs = new Map([
    ...prodOutputs,
    [outputOf("UPSTREAM_KEY_SECRET_ID"), absent],
    [outputOf("WEBHOOK_TOKEN_SECRET_ID"), absent],
    [outputOf("CACHE_TABLE"), prodOutputs.get(outputOf("LEDGER_TABLE")) ?? ""],
    [outputOf("CONSOLE"), ""],
  ]);
  account = { ...inOrder, pages: [], tickets: [], limits: limitsOf(10, 10) };
  const { code, stdout } = await onStage("sandbox", "doctor");
  expect([code, stdout]).toEqual([0, expect.not.stringContaining("wrong")]);
  expect(stdout).toMatch(/^upstream key +skipped +is not set: the stage serves test keys only/m);
  expect(stdout).toMatch(/^success rates +skipped +are counted in a stage with a console/m);
  expect(stdout).toMatch(/^limits +look +only 10 concurrent executions/m);
});

test("doctor finds the webhook of an upstream in order whose addresses alone may send events", async () => {
  const line = "upstream's webhook +ok +takes events from the upstream's addresses only";
  await expectDoctor({ refusesAddress: true }, 0, line);
});

test("catalog diff with --stage compares the refused catalog only, and catalog refresh is refused: only the stage's addresses may call the upstream", async () => {
  const diff = await onStage("prod", "catalog", "diff");
  expect([diff.code, diff.stdout]).toEqual([
    0,
    expect.stringMatching(/^Refused compared with served\n {2}There is no/),
  ]);
  const refresh = await onStage("prod", "catalog", "refresh");
  expect([refresh.code, refresh.stderr]).toEqual([2, expect.stringContaining("from its own addresses")]);
});

test("a stage without a stack, or with a stack of an older version, is refused with exit code 2", async () => {
  const absent = await onStage("sandbox", "accounts", "list");
  expect([absent.code, absent.stderr]).toEqual([
    2,
    "The outputs of stage sandbox could not be read: there is no stack Sandbox-Service. Deploy it first.\n",
  ]);
  sandboxOutputs = new Map();
  const old = await onStage("sandbox", "accounts", "list");
  expect([old.code, old.stderr]).toEqual([
    2,
    expect.stringContaining("another version deployed the stack. Deploy it again"),
  ]);
});

const newAccount = async (): Promise<string> => {
  const { stdout } = await onStage("prod", "accounts", "create", "checkout", "--json");
  return z.object({ account_id: z.string() }).parse(JSON.parse(stdout)).account_id;
};
/** With `--direct` a command records itself, with the operator's own permissions. */
const rotate = (...options: readonly string[]) =>
  onStage("prod", "secrets", "rotate", "webhook-token", "--why", "test", "--yes", ...options);
const auditOf = async (subject: string) => {
  const { stdout } = await onStage("prod", "audit", subject, "--json");
  const entry = z.object({
    at: z.iso.datetime(),
    by: z.string(),
    caller_arn: z.nullable(z.string()),
    action: z.string(),
  });
  return z.object({ acts: z.array(entry) }).parse(JSON.parse(stdout)).acts;
};

test("only --direct gives the reference key another version, and not before the last one is used", async () => {
  const rotate = (...options: readonly string[]) =>
    onStage("prod", "secrets", "rotate", "reference-key", "--why", "leaked", "--yes", "--json", ...options);
  expect(await rotate()).toMatchObject({ code: 2, stdout: expect.stringContaining("Add --direct") });
  const keyOf = async () => (await secret(openSecretsManager(), "reference-key").value()) ?? "";
  const before = await keyOf();
  const rotated = await rotate("--direct");
  const { used_from } = z.object({ used_from: z.string() }).parse(JSON.parse(rotated.stdout));
  const [first, line, ...others] = (await keyOf()).split("\n");
  expect([first, line?.split(" ")[0], others]).toEqual([before, used_from, []]);
  expect(await rotate("--direct")).toMatchObject({ code: 2, stdout: expect.stringContaining("is not in use yet") });
  expect((await keyOf()).split("\n")).toHaveLength(2);
});

const fund = (account: string, ...options: readonly string[]) =>
  onStage("prod", "wallet", "fund", account, "5000", "--id", `bank-${account}`, "--why", "transfer", ...options);
const balanceOf = async (account: string): Promise<number> => {
  const { stdout } = await onStage("prod", "accounts", "show", account, "--json");
  return z.object({ balance: z.number() }).parse(JSON.parse(stdout)).balance;
};

test("wallet fund on a stage without --yes and without a terminal is refused, says so, and changes nothing", async () => {
  const account = await newAccount();
  expect(await fund(account)).toEqual({
    code: 2,
    stdout: "",
    stderr: expect.stringMatching(/^wallet fund asks .* add --yes/),
  });
  expect(await balanceOf(account)).toBe(0);
  for (const options of [["--yes"], ["--json"]]) expect(await fund(account, ...options)).toMatchObject({ code: 0 });
  expect(await balanceOf(account)).toBe(5_000);
});

test.each(["n\n", "\n", "", "yes please\n"])(
  "wallet fund on a stage changes nothing after the answer %j",
  async (typed) => {
    const account = await newAccount();
    const refused = await atTerminal(typed, "wallet", "fund", account, "5000", "--id", account, "--why", "transfer");
    expect([refused.code, refused.stdout]).toEqual([2, ""]);
    expect(refused.stderr).toMatch(
      /^wallet fund on the stage prod\nWHAT .*\nbalance of acc_.* 0\.00 +5,000\.00\nContinue\?/,
    );
    expect(await balanceOf(account)).toBe(0);
  },
);

test.each(["y\n", "YES\n"])("wallet fund on a stage is made after the answer %j", async (typed) => {
  const account = await newAccount();
  const done = await atTerminal(typed, "wallet", "fund", account, "5000", "--id", account, "--why", "transfer");
  expect(done.code).toBe(0);
  expect(await balanceOf(account)).toBe(5_000);
});

test.each(["approve", "break-glass"])(
  "proposals %s on a stage shows what it would carry out, who proposed it and why, and asks",
  async (verb) => {
    const account = await newAccount();
    const input = JSON.stringify({ account, amount_kobo: 250_000_00, id: `GTB-${verb}`, why: "transfer" });
    const { ledger } = service;
    const auditOf = ({ action }: { readonly action: string }) =>
      auditPut(ledger, auditEntry({ audit_log: account, by: "ada", action }, Date.now()));
    const proposal = await putProposal(
      ledger,
      {
        ...{ action: "wallet fund", input, consequence: `Credits NGN 250,000.00 to ${account}`, account_id: account },
        ...{ proposer: "ada", proposed_by: "ada@example.com", why: "transfer of 21 November" },
      },
      1,
      auditOf,
    );
    const args = ["proposals", verb, proposal.proposal_id, "--why", "ticket 97"];
    const asked = await atTerminal("n\n", ...args);
    expect([asked.code, asked.stdout]).toEqual([2, ""]);
    const proposed = `Credits NGN 250,000\\.00 to ${account}, proposed by ada@example\\.com: transfer of 21 November`;
    expect(asked.stderr).toMatch(
      new RegExp(
        `^proposals ${verb} on the stage prod\nWHAT .*\n${proposed} +open +approved\nbalance of ${account} +0\\.00 +250,000\\.00\nContinue\\?`,
      ),
    );
    const script = await onStage("prod", ...args);
    expect(script).toMatchObject({ code: 2, stderr: expect.stringMatching(/asks before it acts/) });
    const unknown = await atTerminal("y\n", "proposals", verb, "prop_0123456789abcdef01", "--why", "ticket 97");
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining("There is no proposal") });
    const db = approvingClient(ledger, proposal, { by: "tola@example.com" });
    await transactUnlessRefused({ ...ledger, db }, [auditOf(proposal)]);
    const repeated = await atTerminal("y\n", ...args);
    expect(repeated, "a repetition after a lost answer").toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/prop_\w+ +not open +not open/),
    });
  },
);

test("a refund above the bound of one act is refused before its question, and is not to be divided", async () => {
  const account = await newAccount();
  const Item = aTransaction({
    ...{ pk: transactionPk(`${"0".repeat(25)}4`), list_key: `${account}#live`, account_id: account, mode: "live" },
    ...{ status: "success", amount_kobo: koboFromNaira(5_000_001) },
  });
  await service.ledger.db.put({ TableName: service.ledger.table, Item });
  sandboxOutputs = new Map([...prodOutputs, [outputOf("OPERATOR_ACT_MAX_NAIRA"), "5000000"]]);
  const refused = await onStage("sandbox", "transactions", "refund", referenceOf(Item), "--why", "test", "--dry-run");
  expect([refused.code, refused.stderr]).toEqual([
    2,
    "At most NGN 5,000,000.00 at once: raise operatorActMaxNaira of the stage by a reviewed deployment. If its answer was lost, repeat it with --yes.\n",
  ]);
});

test.each(["transactions resolve", "events match"])(
  "%s asks about one sending of the order, and settles no other one that began while it asked",
  async (command) => {
    const account = await newAccount();
    await fund(account, "--yes");
    const { db, table: TableName } = service.ledger;
    const ago = (ms: number) => isoTime(Date.now() - ms);
    const Item = aTransaction({
      ...{ pk: newTransactionPk(), list_key: `${account}#live`, account_id: account },
      ...{ created_at: ago(100_000), updated_at: ago(100_000) },
    });
    await db.put({ TableName, Item });
    const sendAgain = async function* () {
      await db.put({ TableName, Item: { ...Item, sent_at: ago(60_000) } });
      yield "y\n";
    };
    const event = {
      reference: `U-${account}`,
      status: "failed",
      type: "data",
      amount_kobo: koboFromNaira(500),
    } as const;
    await recordEvent(service.ledger, event, "unknown_failure");
    const matched = ["events", "match", storedEventId({ pk: storedEventPk(event) }), referenceOf(Item)];
    const args = command === "events match" ? matched : ["transactions", "resolve", referenceOf(Item), "failed"];
    const refused = await atTerminal(sendAgain(), ...args, "--why", "ticket 88");
    expect(refused).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("since you saw it") });
    expect(refused.stderr).toMatch(/status of DATA_\w+ +processing, sent at .*failed\nbalance of /);
    // A script that has read the order before it was sent again.
    for (const options of [["--yes"], []]) {
      const seen = ["--sending", Item.created_at, "--why", "ticket 88"];
      const stderr = expect.stringContaining("since you saw it");
      expect(await atTerminal("y\n", ...args, ...seen, ...options)).toMatchObject({ code: 2, stderr });
    }
    expect(await balanceOf(account)).toBe(5_000);
    expect(await atTerminal("y\n", ...args, "--why", "ticket 88")).toMatchObject({ code: 0 });
    const repeated = await atTerminal("y\n", ...args, "--why", "ticket 88");
    expect(repeated.stderr, "a repetition after a lost answer").toMatch(/status of DATA_\w+ +failed +failed\n/);
  },
);

test("a dry run shows what would change, before and after, and changes nothing", async () => {
  const account = await newAccount();
  await fund(account, "--yes");
  const { key_id: key } = z
    .object({ key_id: z.string() })
    .parse(JSON.parse((await onStage("prod", "keys", "create", account, "--mode", "live", "--json")).stdout));
  const Item = aTransaction({
    pk: transactionPk(`${"0".repeat(25)}2`),
    list_key: `${account}#live`,
    account_id: account,
    mode: "live",
    amount_kobo: koboFromNaira(500),
    created_at: isoTime(Date.now() - 100_000),
    updated_at: isoTime(Date.now() - 100_000),
  });
  const delivered = { ...Item, pk: transactionPk(`${"0".repeat(25)}3`), status: "success" as const };
  for (const each of [Item, delivered]) await service.ledger.db.put({ TableName: service.ledger.table, Item: each });
  const why = ["--why", "test"];
  const runs: readonly (readonly [args: readonly string[], changes: readonly unknown[]])[] = [
    [["wallet", "fund", account, "250.50", "--id", "x", ...why], [{ before: 5_000, after: 5_250.5 }]],
    [["wallet", "adjust", account, "-1000", "--id", "x", ...why], [{ before: 5_000, after: 4_000 }]],
    [["keys", "revoke", key, ...why], [{ what: expect.stringContaining(account), before: "active", after: "revoked" }]],
    [
      ["transactions", "resolve", referenceOf(Item), "failed", ...why],
      [
        { before: expect.stringMatching(/^processing, sent at \d{4}-/), after: "failed" },
        { before: 5_000, after: 5_500 },
      ],
    ],
    [["transactions", "refund", referenceOf(delivered), ...why], [{ before: 5_000, after: 5_500 }]],
    [["secrets", "rotate", "webhook-token", ...why], [{ before: "set", after: "a new random value" }]],
  ];
  /** A read of a transaction, which has a phone number, is on record too. */
  const changesOf = async (subject: string) =>
    (await auditOf(subject)).filter(({ action }) => action !== "transactions show");
  const state = async () => [await changesOf(account), await changesOf("service"), await balanceOf(account)];
  const before = await state();
  for (const [args, changes] of runs) {
    const { code, stdout } = await onStage("prod", ...args, "--dry-run", "--json");
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      { dry_run: true, changes: changes.map((each) => expect.objectContaining(each)) },
    ]);
    const shown = await onStage("prod", ...args, "--dry-run");
    expect(shown.stdout).toMatch(/^WHAT .*NOW +THEN\n[\s\S]*Nothing was changed: this was a dry run\.\n$/);
  }
  expect(await state()).toEqual(before);
  const below = await onStage("prod", "wallet", "adjust", account, "-5001", "--id", "x", ...why, "--dry-run");
  expect(below).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/must not become negative\. If its answer was lost, repeat it with --yes\.$/m),
  });
  const open = await onStage("prod", "transactions", "refund", referenceOf(Item), ...why, "--dry-run");
  expect(open).toMatchObject({ code: 2, stderr: expect.stringContaining("is processing") });
});

test("a change of money or of keys on a stage needs --why, with --direct too", async () => {
  const account = await newAccount();
  for (const args of [
    ["wallet", "fund", account, "5000", "--id", "no-reason", "--yes"],
    ["wallet", "fund", account, "5000", "--id", "no-reason", "--yes", "--direct"],
    ["accounts", "restrict", account, "--json"],
    ["keys", "revoke", "key_0123456789abcdef01", "--yes"],
    ["secrets", "rotate", "webhook-token", "--yes"],
  ]) {
    const { code, stdout, stderr } = await onStage("prod", ...args);
    expect([args, code, `${stdout}${stderr}`]).toEqual([args, 2, expect.stringContaining("--why: Is required")]);
  }
  expect(await balanceOf(account)).toBe(0);
});

test("a change on a stage has the AWS identity that the gateway verified in its audit entry, with one call to STS", async () => {
  const account = await newAccount();
  expect(sts.requests).toBe(1);
  const restricted = await onStage("prod", "accounts", "restrict", account, "--by", "ada", "--why", "unpaid", "--yes");
  expect([restricted.code, sts.requests]).toEqual([0, 2]);
  expect(await auditOf(account)).toMatchObject([
    { action: "accounts create", caller_arn: VERIFIED },
    { action: "accounts restrict", by: "ada", caller_arn: VERIFIED },
  ]);
  expect((await onStage("prod", "audit", account)).stdout).toContain(VERIFIED);
  expect((await onStage("prod", "accounts", "show", account)).stdout).toContain(VERIFIED);
});

test("a secret that a command changes is on record with the identity that the gateway verified, with --direct that STS gave", async () => {
  expect((await rotate()).code).toBe(0);
  expect((await auditOf("service")).at(-1)).toMatchObject({ action: "secrets rotate", caller_arn: VERIFIED });
  expect((await rotate("--direct")).code).toBe(0);
  expect((await auditOf("service")).at(-1)).toMatchObject({ action: "secrets rotate", caller_arn: CALLER });
});

test("a change on a stage is refused with exit code 2 and changes nothing if STS refuses the call", async () => {
  const account = await newAccount();
  sts.refuses = true;
  const refused = await fund(account, "--yes");
  sts.refuses = false;
  expect([refused.code, refused.stdout]).toEqual([2, ""]);
  expect(refused.stderr).toMatch(
    /^AWS STS does not accept these credentials: sign in again, or renew them\. InvalidClientTokenId: The security token is not valid\.\n$/,
  );
  expect(await auditOf(account)).toHaveLength(1);
  expect((await onStage("prod", "wallet", "statement", account)).stdout).toContain("Closing balance NGN 0.00");
});

test.each([
  [3_600_000, "behind"],
  [-3_600_000, "ahead of"],
])(
  "a change that a command makes itself on a stage has AWS's time if AWS's clock is %i ms ahead of this machine's",
  async (aheadMs, direction) => {
    dynamodb.aheadMs = aheadMs;
    const from = isoTime(Date.now() + aheadMs - 2_000);
    expect((await rotate("--direct")).stderr).toMatch(
      new RegExp(`^This machine's clock is 3[56]\\d\\d s ${direction} AWS's\\. AWS's time is used`),
    );
    const to = isoTime(Date.now() + aheadMs + 2_000);
    const times = (await auditOf("service")).map(({ at }) => at);
    expect(times.filter((at) => from <= at && at <= to)).toHaveLength(1);
  },
);

test("transactions resolve on a stage waits for the transaction's request by the service's time, not this machine's", async () => {
  const account = await newAccount();
  dynamodb.aheadMs = 60_000;
  // Its request may run for 39 s.
  const createdAt = isoTime(Date.now() - 27_000);
  const Item = aTransaction({
    pk: transactionPk(`${"0".repeat(25)}1`),
    list_key: `${account}#test`,
    account_id: account,
    mode: "test",
    created_at: createdAt,
    updated_at: createdAt,
  });
  await service.ledger.db.put({ TableName: service.ledger.table, Item });
  const resolved = await onStage(
    "prod",
    "transactions",
    "resolve",
    referenceOf(Item),
    "failed",
    "--why",
    "test",
    "--yes",
  );
  expect([resolved.code, resolved.stderr]).toEqual([0, expect.stringMatching(/may still be running: waiting \d+ s/)]);
});

test("a change that a command makes itself on a stage is refused with exit code 2 if AWS's response has no Date", async () => {
  const before = await auditOf("service");
  dynamodb.aheadMs = undefined;
  const refused = await rotate("--direct");
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringMatching(/no readable Date/)]);
  dynamodb.aheadMs = 0;
  expect(await auditOf("service")).toEqual(before);
});
