import { describe, expect, test } from "vitest";
import { type FunctionName, functionNames, specOf } from "../../../../infra/functions.ts";
import { rolePolicy } from "../../../../infra/outputs.ts";
import { type Role, roles } from "../../../../shared/contract/roles.ts";
import { ACCOUNT_ID, REGION } from "../../../../tools/local/local-aws.ts";
import { type Attack, attacks, queueReads, queueSends, secretReads } from "../../../builders/iam/attacks.ts";
import { evaluate, type IamRequest, type Statement, statementsIn } from "../../../builders/iam/evaluate.ts";
import { arnOf, isKnownType, nameOf } from "../../../builders/iam/resolve.ts";
import { stagePolicies } from "../../../builders/iam/roles.ts";
import { everyFunction } from "../../../builders/templates/console.ts";
import { readPipelineTemplate } from "../../../builders/templates/pipeline-template.ts";
import { idIn, mentions, templatesOf } from "../../../builders/templates/templates.ts";

/**
 * Goal: an attacker who takes over a function, an operator's credentials or the pipeline can make the listed attacks on AWS, and
 * none of the others. Method: the policies of the templates are evaluated as IAM does.
 */
const templates = templatesOf("prod", everyFunction);
const { functions, otherRoles, managed } = stagePolicies(templates);

/** An attack, or the action of it that is allowed while others are not. */
type Possible = Attack | `${Attack}: ${string}`;

const isAllowed = (statements: readonly Statement[], request: IamRequest): boolean =>
  evaluate(statements, request) === "allowed";
/** As a function's code asks: AWS adds the function's ARN to all that is asked with its credentials. */
const withSource = ({ context, ...request }: IamRequest): IamRequest => ({
  ...request,
  context: { ...context, "lambda:SourceFunctionArn": arnOf("AWS::Lambda::Function", "Stolen") },
});
const byItsCode = (requests: ReadonlyMap<string, IamRequest>): ReadonlyMap<string, IamRequest> =>
  new Map([...requests].map(([name, request]) => [name, withSource(request)]));
const possible = (
  statements: readonly Statement[],
  asked: (request: IamRequest) => IamRequest = (request) => request,
): ReadonlySet<string> =>
  new Set(
    Object.entries(attacks).flatMap(([attack, requests]) => {
      const allowed = requests.filter((request) => isAllowed(statements, asked(request)));
      return allowed.length === requests.length ? [attack] : allowed.map(({ action }) => `${attack}: ${action}`);
    }),
  );
const allowedOf = (statements: readonly Statement[], requests: ReadonlyMap<string, IamRequest>): ReadonlySet<string> =>
  new Set([...requests].flatMap(([name, request]) => (isAllowed(statements, request) ? [name] : [])));

const ofFunction = (name: FunctionName): readonly Statement[] => {
  const found = functions.get(name);
  if (found === undefined) throw new Error(`${name} has no role`);
  return found;
};

/** What every function does that takes a caller's request: it counts it. */
const COUNTING = ["make an API key's minute unlimited"] as const satisfies readonly Attack[];
/** What ends an order and refunds it. */
const SETTLING = [
  "change a balance",
  "change a transaction",
  "settle an order",
  "remove the phone number from an order",
] as const satisfies readonly Attack[];
/** What takes an order, and at a ledger's first order keeps the hash of the reference key. */
const ORDERING = ["put an order", "replace the hash of the reference key"] as const satisfies readonly Attack[];
const KEY_CHANGES = [
  "put an API key",
  "give an API key permissions",
  "give an API key another account",
  "widen an API key's whitelist",
  ...COUNTING,
] as const satisfies readonly Attack[];

/** What the console shows. */
const SHOWING = [
  "read an order",
  "read a consent",
  "read an account",
  "read whose an account is",
  "read a person",
  "read an API key's item",
  "read a balance",
  "read a payment",
  "read a proposal",
] as const satisfies readonly Attack[];
/** The operators' policies read items of the ledger by key, without a limit on their kinds. */
const READING = [
  ...SHOWING.filter((attack) => attack !== "read an API key's item"),
  "read prices",
  "read a statement of the upstream",
] as const satisfies readonly Attack[];

const possibleFor: Readonly<Record<FunctionName, readonly Possible[]>> = {
  "list-catalog": [...COUNTING, "read prices"],
  purchase: [...COUNTING, ...SETTLING, ...ORDERING, "read an order", "read a balance", "read prices"],
  "check-identity": [
    ...COUNTING,
    ...SETTLING,
    ...ORDERING,
    "put a consent",
    "hash numbers of persons",
    "read an order",
    "read the result of an identity check",
    "read prices",
  ],
  "read-account": [...COUNTING, "read an order", "read a balance"],
  "receive-upstream-event": [],
  "apply-upstream-event": [
    ...SETTLING,
    "put an order",
    "claim an upstream reference",
    "read an order",
    "read a balance",
  ],
  "enqueue-webhooks": ["read an account"],
  "deliver-webhook": ["read an order", "read an account"],
  "requeue-deliveries": ["read an account", "read a balance"],
  "send-queued-orders": [...SETTLING, "read an order", "read a balance"],
  "ask-upstream": ["read an order"],
  "refresh-catalog": ["change the catalog"],
  "reconcile-ledger": [
    ...SETTLING,
    "change a consent",
    "remove the person from a consent",
    "hide a wrong balance",
    "read an order",
    "read a consent",
    "read a balance",
    "read a payment",
  ],
  // It connects to hosts that people choose.
  "send-notifications": ["read an account", "read whose an account is", "read a person", "read a balance"],
  "serve-docs": [],
  "not-found": [],
  "console-api": [
    ...SHOWING,
    ...SETTLING,
    ...KEY_CHANGES,
    "mint a wallet",
    "put a funding",
    "put an adjustment",
    "become owner of an account",
    "hide a wrong balance",
    "claim an upstream reference",
    "put an audit entry, over another one too",
    "switch purchases on",
    "change the catalog",
  ],
  // It changes no balance and no order: an import never moves money.
  "reconcile-statement": [
    "put an audit entry, over another one too",
    "read an order",
    "read a statement of the upstream",
  ],
  // It removes persons from orders and consents, and changes nothing else of them.
  "answer-subjects": [
    "read an order",
    "read a consent",
    "read an account",
    "remove the phone number from an order",
    "remove the person from a consent",
    "put an audit entry, over another one too",
    "hash numbers of persons",
  ],
  "serve-console": [],
  "count-transactions": [],
  // It writes no entries, so that its attestations cannot make a forged one right.
  "attest-audit": ["attest an audit entry"],
  "copy-audit": ["put a false copy of an audit entry"],
};

test("the attacks are on tables, queues, secrets and functions of the stage", () => {
  const own = [templates.data, templates.service].flatMap(({ every }) =>
    every.flatMap(({ Type, id }) => (isKnownType(Type) ? [arnOf(Type, nameOf(id))] : [])),
  );
  const attacked = [...Object.values(attacks).flat(), ...[secretReads, queueSends].flatMap((all) => [...all.values()])];
  const services = new Set<string>();
  for (const { resource } of attacked) {
    const [, , service = ""] = resource.split(":");
    if (!["dynamodb", "sqs", "secretsmanager", "kms", "lambda", "s3"].includes(service)) continue;
    services.add(service);
    expect(
      own.some((arn) => resource === arn || resource.startsWith(`${arn}/`)),
      resource,
    ).toBe(true);
  }
  expect(services.size).toBe(6);
});

describe("with the role of a function", () => {
  test.each(functionNames)("of %s the listed attacks are allowed, and no other", (name) => {
    expect(possible(ofFunction(name), withSource)).toEqual(new Set(possibleFor[name]));
  });

  // permissions.test.ts has the secrets, queues and streams of each role, from which Lambda polls with it.
  test.each(functionNames)("of %s the code takes no message, but dead letters if it moves them back", (name) => {
    const isMoving = specOf(name).redrives !== undefined;
    const deadLetters = [...queueReads.keys()].filter((id) => isMoving && id.endsWith("DeadLetters"));
    expect(allowedOf(ofFunction(name), byItsCode(queueReads))).toEqual(new Set(deadLetters));
  });
});

test("the role of canary releases moves aliases, that of the trail writes its log, and no other role has a policy of our own", () => {
  const [canary, logs, ...others] = [...otherRoles].filter(([, statements]) => statements.length > 0);
  const ids = [canary, logs].map((role) => role?.[0]);
  expect([...ids, others]).toEqual([expect.stringMatching(/^CanaryRole/), expect.stringMatching(/^DirectAccess/), []]);
  for (const [, statements] of [canary, logs].filter((role) => role !== undefined))
    expect([...possible(statements), ...allowedOf(statements, secretReads)]).toEqual([]);
  const resource = `arn:aws:lambda:us-east-1:${ACCOUNT_ID}:function:Purchase:current`;
  expect(isAllowed(canary?.[1] ?? [], { action: "lambda:UpdateAlias", resource, context: {} })).toBe(true);
});

const OTHER_ROLES = ["finance", "support", "auditor", "reader"] as const satisfies readonly Role[];

const OPERATING = [
  "read all items: dynamodb:Scan",
  "change or delete a secret: secretsmanager:PutSecretValue",
] as const satisfies readonly Possible[];
const possibleForOperators: Readonly<Record<string, readonly Possible[]>> = {
  "prod-airtime-operator-read": [...READING, "read an API key's item: dynamodb:GetItem"],
  "prod-airtime-operator-act": [
    ...READING,
    "read an API key's item",
    ...OPERATING,
    "change or call a function: execute-api:Invoke",
  ],
  // For the stage whose service does not answer: a person who has both may do everything to its items but delete them.
  "prod-airtime-operator-direct-read": [...READING, "read an API key's item"],
  "prod-airtime-operator-direct": [
    "read an API key's item: dynamodb:BatchGetItem",
    ...OPERATING,
    "empty, redirect or delete a queue: sqs:PurgeQueue",
    "hide a wrong balance",
    "put an audit entry, over another one too",
    ...KEY_CHANGES,
    ...SETTLING,
    ...ORDERING,
    "become owner of an account",
    "mint a wallet",
    "put a funding",
    "put an adjustment",
    "change an account",
    "claim an upstream reference",
    "put a consent",
    "change a consent",
    "remove the person from a consent",
    "switch purchases on",
    "change the catalog",
  ],
  ...Object.fromEntries(OTHER_ROLES.map((role) => [rolePolicy("prod", role), []])),
};

test("every policy of operators is attacked", () => {
  expect([...managed.keys()]).toEqual(Object.keys(possibleForOperators));
});

test("only the direct policy has secrets, and none has the upstream's keys and the key that seals replays", () => {
  const readable = [...managed].map(([name, statements]) => [name, [...allowedOf(statements, secretReads)].toSorted()]);
  expect(readable).toEqual([
    ["prod-airtime-operator-read", []],
    ["prod-airtime-operator-act", []],
    ["prod-airtime-operator-direct-read", []],
    [
      "prod-airtime-operator-direct",
      ["ChecksumKey", "ReferenceKey", "UpstreamHmac", "UpstreamTestKey", "WebhookKey", "WebhookToken"],
    ],
    ...OTHER_ROLES.map((role) => [rolePolicy("prod", role), []]),
  ]);
});

// Who reads an order has its token, with which a message of the outcomes queue ends and refunds it, without an entry or a page.
test("only the direct policy sends outcomes, and takes or deletes those that were given up", () => {
  const ofQueues = [...managed].map(([name, statements]) => {
    const [sent, taken] = [queueSends, queueReads].map((requests) => [...allowedOf(statements, requests)].toSorted());
    return [name, sent, taken];
  });
  const others = ["DeliveryDeadLetters", "LedgerDeadLetters", "SchedulesDeadLetters"];
  expect(ofQueues).toEqual([
    ["prod-airtime-operator-read", [], []],
    ["prod-airtime-operator-act", ["DeliveryQueue"], others],
    ["prod-airtime-operator-direct-read", [], []],
    ["prod-airtime-operator-direct", ["DeliveryQueue", "OutcomesQueue"], [...others, "OutcomesDeadLetters"].toSorted()],
    ...OTHER_ROLES.map((role) => [rolePolicy("prod", role), [], []]),
  ]);
});

test.each([...managed])("with the policy %s the listed attacks are allowed, and no other", (name, statements) => {
  expect(possible(statements)).toEqual(new Set(possibleForOperators[name]));
});

test.each(OTHER_ROLES)("the policy of the role %s allows requests in that role, and in no other", (role) => {
  const statements = managed.get(rolePolicy("prod", role)) ?? [];
  const requests = new Map(
    roles.flatMap((each) =>
      ["GET", "POST"].map((method): [string, IamRequest] => {
        const resource = `arn:aws:execute-api:${REGION}:${ACCOUNT_ID}:apihttp/$default/${method}/operations/${each}/wallet/fund`;
        return [`${method} ${each}`, { action: "execute-api:Invoke", resource, context: {} }];
      }),
    ),
  );
  expect([...allowedOf(statements, requests)].toSorted()).toEqual([`GET ${role}`, `POST ${role}`]);
});

test("only a role of the stage has the direct policies, and taking it pages the operators", () => {
  const { all, get, outputs } = templates.administrator;
  const owners = all("AWS::IAM::ManagedPolicy").map(({ Properties }) => [
    Properties.ManagedPolicyName,
    Properties.Roles,
  ]);
  const role = { Ref: idIn(outputs.OperatorDirectRole?.Value) };
  expect(owners.filter(([, roles]) => roles !== undefined)).toEqual([
    ["prod-airtime-operator-direct-read", [role]],
    ["prod-airtime-operator-direct", [role]],
  ]);
  const taken = all("AWS::Events::Rule").filter(({ Properties }) => mentions(Properties, role.Ref));
  const event = { eventName: ["AssumeRole"], requestParameters: { roleArn: [outputs.OperatorDirectRole?.Value] } };
  const detail: unknown = expect.objectContaining(event);
  // To take a role is a read-only event, and AWS's example of a rule for it has this state.
  const State = "ENABLED_WITH_ALL_CLOUDTRAIL_MANAGEMENT_EVENTS";
  expect(taken.map(({ Properties }) => Properties)).toEqual([
    expect.objectContaining({ State, EventPattern: expect.objectContaining({ detail }) }),
  ]);
  const topic = idIn(templates.service.outputs.AlarmTopic?.Value);
  expect(JSON.stringify(taken[0]?.Properties.Targets)).toContain(`ExportsOutputRef${topic}`);
  // EventBridge of the stage's region sees no role that was taken elsewhere.
  expect(get(role.Ref).Properties.AssumeRolePolicyDocument).toMatchObject({
    Statement: [{ Action: "sts:AssumeRole", Condition: { StringEquals: { "aws:RequestedRegion": REGION } } }],
  });
});

describe("with the pipeline", () => {
  // pipeline.test.ts has all that the roles of a deployment and of a pull request may do themselves.
  const { boundary, deployment, denials } = readPipelineTemplate();
  const statementsOf = (own: readonly object[]): readonly Statement[] =>
    // The template's parameters name another account.
    statementsIn(
      JSON.parse(JSON.stringify({ Version: "2012-10-17", Statement: own }).replaceAll("123456789012", ACCOUNT_ID)),
    );

  const iamArn = (resource: string) => `arn:aws:iam::${ACCOUNT_ID}:${resource}`;

  const EVERYTHING = { Effect: "Allow", Action: ["*"], Resource: ["*"] };
  /** For a function that a deployment makes: its role may allow everything, within the boundary. */
  const isWithinBoundary = (request: IamRequest): boolean =>
    [boundary, [EVERYTHING]].every((statements) => isAllowed(statementsOf(statements), request));

  test.each([
    ["dynamodb:PutResourcePolicy", "dynamodb", "table/Ledger"],
    ["dynamodb:PutResourcePolicy", "dynamodb", "table/Audit"],
    ["dynamodb:DeleteResourcePolicy", "dynamodb", "table/Audit"],
    ["secretsmanager:PutResourcePolicy", "secretsmanager", "secret:ReferenceKey-a1b2c3"],
    ["backup:DeleteRecoveryPoint", "backup", "recovery-point:1"],
    ["backup:UpdateRecoveryPointLifecycle", "backup", "recovery-point:1"],
    ["backup:DeleteBackupVaultLockConfiguration", "backup", "backup-vault:prod-airtime-backups"],
    ["backup:DeleteBackupVaultAccessPolicy", "backup", "backup-vault:prod-airtime-backups"],
  ])("a function that a deployment makes may not use %s either, whatever its role allows", (action, service, name) => {
    const resource = `arn:aws:${service}:${REGION}:${ACCOUNT_ID}:${name}`;
    expect(isWithinBoundary({ action, resource, context: {} })).toBe(false);
  });

  // Source: AWS KMS, "Controlling access to HMAC KMS keys": kms:KeySpec limits also what is done with a key.
  test.each(["kms:PutKeyPolicy", "kms:ScheduleKeyDeletion"])("nor %s of a key that encrypts a vault", (action) => {
    const resource = `arn:aws:kms:${REGION}:${ACCOUNT_ID}:key/VaultKey`;
    const of = (spec: string) => ({ action, resource, context: { "kms:KeySpec": spec } });
    expect(["SYMMETRIC_DEFAULT", "HMAC_256"].filter((spec) => isWithinBoundary(of(spec)))).toEqual(["HMAC_256"]);
  });

  test("CloudFormation changes the stage's resources, and reads neither data nor secrets", () => {
    const statements = statementsOf([...deployment, ...denials]);
    expect(possible(statements)).toEqual(
      new Set<Possible>([
        "change or call a function: lambda:AddPermission",
        "change or call a function: lambda:UpdateFunctionCode",
        "change or call a function: lambda:UpdateFunctionConfiguration",
        // UpdateSecret is what changes a description, and also a value.
        "change or delete a secret: secretsmanager:DeleteSecret",
        "change or delete a secret: secretsmanager:UpdateSecret",
        // KMS deletes it after 30 days, in which an administrator can cancel that.
        "change, share or delete the identity key: kms:ScheduleKeyDeletion",
        "change, share or delete the identity key: kms:PutKeyPolicy",
        // Deletion protection and what the vault still holds stand before these.
        "destroy a table or its backups: backup:DeleteBackupVault",
        "destroy a table or its backups: dynamodb:DeleteTable",
        "destroy a table or its backups: dynamodb:UpdateContinuousBackups",
        "destroy a table or its backups: dynamodb:UpdateTable",
        "destroy a table or its backups: dynamodb:UpdateTimeToLive",
        "empty, redirect or delete a queue: sqs:AddPermission",
        "empty, redirect or delete a queue: sqs:DeleteQueue",
        "empty, redirect or delete a queue: sqs:SetQueueAttributes",
        "silence alarms, logs or schedules",
      ]),
    );
    for (const requests of [secretReads, queueSends, queueReads])
      expect(allowedOf(statements, requests)).toEqual(new Set());
  });

  const DIRECT_ROLE = iamArn("role/Prod-Administrator-OperatorsDirectRole7D0A-x1");
  const TAKEN = `arn:aws:events:${REGION}:${ACCOUNT_ID}:rule/Prod-Administrator-OperatorsDirectRoleTaken-x1`;
  const ofWrites = (service: string, kind: string): string =>
    `arn:aws:${service}:${REGION}:${ACCOUNT_ID}:${kind}Prod-Administrator-DirectAccess7D0A-x1`;
  test.each([
    ["give operators more", "iam:CreatePolicyVersion", iamArn("policy/prod-airtime-operator-read")],
    ["make an earlier version current", "iam:SetDefaultPolicyVersion", iamArn("policy/prod-airtime-operator-act")],
    ["replace a policy of operators", "iam:DeletePolicy", iamArn("policy/prod-airtime-operator-act")],
    ["make a policy that passes for one of operators", "iam:CreatePolicy", iamArn("policy/prod-airtime-operator-x")],
    ["let others take the direct role", "iam:UpdateAssumeRolePolicy", DIRECT_ROLE],
    ["give the direct role more", "iam:AttachRolePolicy", DIRECT_ROLE],
    ["make the direct role anew", "iam:CreateRole", DIRECT_ROLE],
    ["let a function have the direct role", "iam:PassRole", DIRECT_ROLE],
    ["let others take the role of a function", "iam:UpdateAssumeRolePolicy", iamArn("role/Prod-Service-Purchase-x1")],
    ["free a role of its boundary", "iam:DeleteRolePermissionsBoundary", iamArn("role/Prod-Service-Purchase-x1")],
    ["widen its own policy, and the boundary", "iam:CreatePolicyVersion", iamArn("policy/prod-airtime-deployment")],
    ["drop its denials", "iam:CreatePolicyVersion", iamArn("policy/prod-airtime-deployment-denials")],
    ["let another repository deploy", "iam:UpdateAssumeRolePolicy", iamArn("role/prod-airtime-deploy")],
    ["hide that the direct role was taken", "events:DisableRule", TAKEN],
    ["send that news elsewhere", "events:RemoveTargets", TAKEN],
    ["silence the alarm on direct writes", "cloudwatch:DisableAlarmActions", ofWrites("cloudwatch", "alarm:")],
    ["stop the trail of direct access", "cloudtrail:StopLogging", ofWrites("cloudtrail", "trail/")],
    ["delete the record of direct access", "logs:DeleteLogStream", ofWrites("logs", "log-group:")],
  ])(
    "a deployment is denied to %s, whatever else CloudFormation may do, and so is a function that it makes",
    (_, action, resource) => {
      const context = { "iam:PermissionsBoundary": iamArn("policy/prod-airtime-deployment") };
      expect(evaluate(statementsOf([EVERYTHING, ...denials]), { action, resource, context })).toBe("denied");
      expect(isWithinBoundary({ action, resource, context })).toBe(false);
    },
  );

  test("a deployment may still make the stage's roles and rules", () => {
    const context = { "iam:PermissionsBoundary": iamArn("policy/prod-airtime-deployment") };
    const made = [
      ["iam:CreateRole", iamArn("role/Prod-Service-Purchase-x1")],
      ["events:PutRule", `arn:aws:events:${REGION}:${ACCOUNT_ID}:rule/Prod-Service-Schedules-x1`],
    ] as const;
    for (const [action, resource] of made)
      expect(isAllowed(statementsOf([...deployment, ...denials]), { action, resource, context }), action).toBe(true);
  });
});
