import { describe, expect, test } from "vitest";
import * as z from "#zod";
import { functionSpecs } from "../../../../functions/specs.ts";
import { type FunctionName, functionNames, functionNamesOf } from "../../../../infra/functions.ts";
import { everyFunction } from "../../../builders/templates/console.ts";
import { idIn, resourceName, statementsOf, templatesOf } from "../../../builders/templates/templates.ts";

const { service, data, administrator } = templatesOf("prod", everyFunction);
const sandbox = templatesOf("sandbox");

/** The statements of the role of the function with this name. */
const statementsFor = (name: string) => {
  const own = service
    .all("AWS::Lambda::Function")
    .find(({ Properties }) => Properties.FunctionName === `prod-airtime-${name}`);
  const role = idIn(own?.Properties.Role);
  return service
    .all("AWS::IAM::Policy")
    .filter(({ Properties }) => JSON.stringify(Properties.Roles).includes(`"${role}"`))
    .flatMap(statementsOf);
};
const allowedTo = (name: string) => statementsFor(name).filter(({ Effect }) => Effect === "Allow");

const READ = "GetSecretValue";
const CONSUME = "ChangeMessageVisibility DeleteMessage GetQueueAttributes ReceiveMessage";

/** All that each function may do, its own log group and `wildcards` aside. */
const grants: Readonly<Record<FunctionName, Readonly<Record<string, string>>>> = {
  "list-catalog": {
    Access: "UpdateItem",
    Ledger: "BatchGetItem GetItem",
    Cache: "BatchGetItem GetItem",
    ChecksumKey: READ,
  },
  purchase: {
    Access: "UpdateItem",
    Ledger: "BatchGetItem GetItem PutItem UpdateItem",
    Cache: "BatchGetItem GetItem PutItem UpdateItem",
    OutcomesQueue: "SendMessage",
    UpstreamKey: READ,
    ReferenceKey: READ,
    ChecksumKey: READ,
  },
  "check-identity": {
    Access: "UpdateItem",
    Ledger: "BatchGetItem GetItem PutItem UpdateItem",
    Cache: "BatchGetItem GetItem PutItem UpdateItem",
    OutcomesQueue: "SendMessage",
    UpstreamKey: READ,
    ReferenceKey: READ,
    ChecksumKey: READ,
    ReplayKey: READ,
    IdentityKey: "GenerateMac",
  },
  "read-account": {
    Access: "UpdateItem",
    Ledger: "BatchGetItem GetItem",
    "Ledger/index/by_list": "Query",
    ReferenceKey: READ,
    ChecksumKey: READ,
  },
  "receive-upstream-event": {
    OutcomesQueue: "SendMessage",
    UpstreamHmac: READ,
    WebhookToken: READ,
    ReferenceKey: READ,
  },
  "apply-upstream-event": {
    Ledger: "BatchGetItem GetItem PutItem UpdateItem",
    "Ledger/index/by_upstream_reference": "Query",
    "Ledger/index/by_phone": "Query",
    OutcomesQueue: CONSUME,
    ReferenceKey: READ,
  },
  "enqueue-webhooks": {
    Ledger: "BatchGetItem GetItem",
    "Ledger/stream": "DescribeStream GetRecords GetShardIterator",
    DeliveryQueue: "SendMessage",
    LedgerDeadLetters: "GetQueueAttributes GetQueueUrl SendMessage",
  },
  "deliver-webhook": { Ledger: "BatchGetItem GetItem PutItem", DeliveryQueue: CONSUME, WebhookKey: READ },
  "requeue-deliveries": {
    Ledger: "BatchGetItem GetItem PutItem",
    "Ledger/index/by_open": "Query",
    DeliveryQueue: "SendMessage",
  },
  "send-queued-orders": {
    Ledger: "BatchGetItem ConditionCheckItem GetItem PutItem UpdateItem",
    "Ledger/index/by_open": "Query",
    Cache: "BatchGetItem GetItem UpdateItem",
    OutcomesQueue: "SendMessage",
    UpstreamKey: READ,
  },
  "ask-upstream": {
    Ledger: "BatchGetItem GetItem",
    "Ledger/index/by_open": "Query",
    Cache: "BatchGetItem GetItem UpdateItem",
    OutcomesQueue: "SendMessage",
    UpstreamKey: READ,
  },
  "refresh-catalog": {
    Cache: "BatchGetItem GetItem PutItem",
    "Ledger/index/by_open": "Query",
    DeliveryQueue: "SendMessage",
    UpstreamKey: READ,
  },
  "reconcile-ledger": {
    Ledger: "BatchGetItem GetItem PutItem UpdateItem",
    "Ledger/index/by_list": "Query",
    "Ledger/index/by_open": "Query",
  },
  "send-notifications": {
    Ledger: "BatchGetItem GetItem PutItem",
    "Ledger/index/by_list": "Query",
    "Ledger/index/by_open": "Query",
    Notifications: "ListSubscriptionsByTopic Publish",
    WebhookKey: READ,
  },
  "console-api": {
    Access: "BatchGetItem GetItem PutItem UpdateItem",
    Ledger: "BatchGetItem ConditionCheckItem GetItem PutItem UpdateItem",
    "Ledger/index/by_list": "Query",
    "Ledger/index/by_upstream_reference": "Query",
    "Ledger/index/by_open": "Query",
    "Ledger/index/by_phone": "Query",
    Audit: "PutItem Query",
    "Audit/index/by_time": "Query",
    "Audit/index/by_about": "Query",
    Cache: "BatchGetItem GetItem PutItem UpdateItem",
    OutcomesQueue: "SendMessage",
    DeliveryQueue: "SendMessage",
    OutcomesDeadLetters: "DeleteMessage GetQueueAttributes ReceiveMessage",
    DeliveryDeadLetters: "DeleteMessage GetQueueAttributes ReceiveMessage",
    LedgerDeadLetters: "GetQueueAttributes ReceiveMessage",
    SchedulesDeadLetters: "GetQueueAttributes ReceiveMessage",
    Notifications: "ListSubscriptionsByTopic Subscribe Unsubscribe",
    ReferenceKey: READ,
    ChecksumKey: READ,
    WebhookKey: READ,
    UpstreamTestKey: READ,
  },
  "reconcile-statement": {
    Ledger: "BatchGetItem GetItem PutItem",
    "Ledger/index/by_list": "Query",
    Audit: "PutItem Query",
    ReferenceKey: READ,
  },
  "answer-subjects": {
    Ledger: "BatchGetItem GetItem UpdateItem",
    "Ledger/index/by_list": "Query",
    "Ledger/index/by_phone": "Query",
    "Ledger/index/by_subject": "Query",
    Audit: "PutItem Query",
    "Audit/index/by_about": "Query",
    Cache: "UpdateItem",
    IdentityKey: "GenerateMac",
    ReferenceKey: READ,
  },
  "serve-console": {},
  "count-transactions": { "Ledger/stream": "DescribeStream GetRecords GetShardIterator", Cache: "UpdateItem" },
  "attest-audit": { "Audit/stream": "DescribeStream GetRecords GetShardIterator", Audit: "PutItem Query" },
  "copy-audit": { "Audit/stream": "DescribeStream GetRecords GetShardIterator", AuditCopy: "PutObject" },
  "serve-docs": {},
  "not-found": {},
};

const networkInterfaces = [
  "ec2:AssignPrivateIpAddresses",
  "ec2:CreateNetworkInterface",
  "ec2:DeleteNetworkInterface",
  "ec2:DescribeNetworkInterfaces",
  "ec2:DescribeSubnets",
  "ec2:UnassignPrivateIpAddresses",
];
const egress = functionNames.filter((name) => "egress" in functionSpecs[name]);

/** The actions on `*` and the functions that have them. AWS authorises these actions without a resource. */
const wildcards: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(networkInterfaces.map((action) => [action, egress])),
  "dynamodb:ListStreams": ["enqueue-webhooks", "count-transactions", "attest-audit", "copy-audit"],
  "s3:PutObject": ["copy-audit"],
};

describe("functions' permissions", () => {
  test("no statement has a wildcard action, and only listed actions are allowed on every resource", () => {
    const found: [string, string][] = [];
    for (const name of functionNames) {
      const statements = allowedTo(name);
      expect(statements.length, name).toBeGreaterThan(0);
      for (const { Action, Resource = [] } of statements) {
        for (const action of Action) {
          expect(action).toMatch(/^[a-z0-9]+:[A-Za-z]+$/);
          if (JSON.stringify(Resource).includes("*")) found.push([action, name]);
        }
      }
    }
    const expected = Object.entries(wildcards).flatMap(([action, names]) => names.map((name) => [action, name]));
    expect(new Set(found.map(String))).toEqual(new Set(expected.map(String)));
  });

  test("a function's code may do nothing with the network interfaces that Lambda manages with its role", () => {
    for (const name of functionNames) {
      const denied = statementsFor(name)
        .filter(({ Effect }) => Effect === "Deny")
        .map((statement) => ({ ...statement, Action: statement.Action.toSorted() }));
      const byItsCode = {
        Effect: "Deny",
        Action: networkInterfaces,
        Resource: ["*"],
        Condition: { Null: { "lambda:SourceFunctionArn": "false" } },
      };
      expect(denied, name).toEqual(egress.includes(name) ? [byItsCode] : []);
    }
  });

  test("Lambda may give up the network interfaces of functions that have left their VPC, and make none", () => {
    const ec2 = sandbox.service
      .all("AWS::IAM::Policy")
      .flatMap(statementsOf)
      .filter(({ Action }) => Action.some((action) => action.startsWith("ec2:")));
    const actions = ["ec2:DeleteNetworkInterface", "ec2:DescribeNetworkInterfaces"];
    expect(ec2).toHaveLength(
      2 * egress.filter((name) => functionNamesOf({ upstreamProfile: {} }).includes(name)).length,
    );
    for (const { Action, Effect, Condition } of ec2) {
      expect(Action).toEqual(actions);
      expect(Condition).toEqual(Effect === "Deny" ? { Null: { "lambda:SourceFunctionArn": "false" } } : undefined);
    }
  });

  test("no role has a managed policy, and there is one role and one policy for each function", () => {
    for (const stack of [service, data, sandbox.service, sandbox.data]) {
      for (const { Properties } of stack.all("AWS::IAM::Role")) expect(Properties.ManagedPolicyArns).toBeUndefined();
    }
    // That of canary releases is tested in canary-release.test.ts.
    expect(sandbox.service.all("AWS::IAM::Role")).toHaveLength(functionNamesOf({ upstreamProfile: {} }).length);
    expect(service.all("AWS::IAM::Role")).toHaveLength(functionNames.length + 1);
    expect(service.all("AWS::IAM::Policy")).toHaveLength(functionNames.length);
  });

  test("policies of queues and of the topic allow services of AWS only", () => {
    const policies = [...service.all("AWS::SQS::QueuePolicy"), ...service.all("AWS::SNS::TopicPolicy")];
    const allowed = policies.flatMap(statementsOf).filter(({ Effect }) => Effect === "Allow");
    expect(allowed.length).toBeGreaterThan(0);
    for (const { Principal } of allowed) expect(Principal).toMatchObject({ Service: expect.any(String) });
  });

  test.each(functionNames)(
    "%s may do exactly what is granted to it, with each secret, table, index and queue",
    (name) => {
      const found: Record<string, string> = {};
      for (const { Action, Resource = [] } of allowedTo(name)) {
        for (const resource of Resource.map(resourceName).filter((known) => known !== "*" && !known.endsWith("Logs"))) {
          const actions = Action.map((action) => action.split(":")[1] ?? "");
          found[resource] = [...new Set([...(found[resource]?.split(" ") ?? []), ...actions])].sort().join(" ");
        }
      }
      expect(found).toEqual(grants[name]);
    },
  );
});

test("console-api may add e-mail addresses to the topic of notifications, and nothing that forwards what is sent", () => {
  const subscribing = allowedTo("console-api").filter(({ Action }) => Action.includes("sns:Subscribe"));
  expect(subscribing).toMatchObject([
    { Action: ["sns:Subscribe"], Condition: { StringEquals: { "sns:Protocol": "email" } } },
  ]);
});

test("an operator's permission for items with certain keys holds only for requests that name a key", () => {
  const limited = administrator
    .all("AWS::IAM::ManagedPolicy")
    .flatMap(statementsOf)
    .filter(({ Condition }) => Condition !== undefined);
  expect(limited.length).toBeGreaterThan(0);
  // Source: AWS, "Multivalued context keys": ForAllValues is also true if the request has no such key.
  for (const { Condition } of limited) {
    const { Null, ...byKeys } = z.record(z.string(), z.unknown()).parse(Condition);
    expect(Null).toEqual({ "dynamodb:LeadingKeys": "false" });
    expect(Object.keys(byKeys)).toEqual([expect.stringMatching(/^ForAllValues:String(Not)?Like$/)]);
    expect(Object.values(byKeys)).toEqual([{ "dynamodb:LeadingKeys": expect.anything() }]);
  }
});
