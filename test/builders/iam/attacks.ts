import { outputOf } from "../../../infra/outputs.ts";
import { secretTable } from "../../../shared/platform/secret-table.ts";
import { ACCOUNT_ID, REGION } from "../../../tools/local/local-aws.ts";
import { dynamoDbRequests } from "./dynamodb-requests.ts";
import type { IamRequest } from "./evaluate.ts";
import { arnOf } from "./resolve.ts";

/** Calls to AWS that an attacker with the credentials of one role makes. */
const ACCOUNT = "acc_d7bdaab58fca8a5d05";
const KEY_HASH = "JiLR5YO01Fhyau_mpHxrrzEAAlXpLpf2qP-NjAmzo6Q";

const onTable = (
  operation: string,
  TableName: "Access" | "Ledger" | "Audit" | "Cache",
  input: object,
): readonly IamRequest[] =>
  dynamoDbRequests(operation, { TableName, ...input }, (table) => arnOf("AWS::DynamoDB::Table", table));
const put = (pk: string) => onTable("PutItem", "Ledger", { Item: { pk } });
const update = (pk: string) =>
  onTable("UpdateItem", "Ledger", { Key: { pk }, UpdateExpression: "SET stolen = :it", ReturnValues: "ALL_NEW" });
/** Another attribute beside it is refused with it: a condition on the attributes holds for all that a request names. */
const setOf = (pk: string, attribute: string) =>
  onTable("UpdateItem", "Ledger", {
    Key: { pk },
    UpdateExpression: "SET #changed = :value",
    ExpressionAttributeNames: { "#changed": attribute },
  });
const read = (table: "Access" | "Ledger" | "Cache", pk: string) => [
  ...onTable("GetItem", table, { Key: { pk } }),
  ...dynamoDbRequests("BatchGetItem", { RequestItems: { [table]: { Keys: [{ pk }] } } }, (name) =>
    arnOf("AWS::DynamoDB::Table", name),
  ),
];
const auditKey = (kind: string) => ({ pk: `${kind}#${ACCOUNT}`, sequence: "0000000001" });
const changeKey = (attribute: string) =>
  onTable("UpdateItem", "Access", {
    Key: { pk: KEY_HASH },
    UpdateExpression: "SET #changed = :value",
    ExpressionAttributeNames: { "#changed": attribute },
  });
const onArn = (action: string, service: string, resource: string): readonly IamRequest[] => [
  // ARNs of IAM have no region.
  { action, resource: `arn:aws:${service}:${service === "iam" ? "" : REGION}:${ACCOUNT_ID}:${resource}`, context: {} },
];
const COPIES = arnOf("AWS::S3::Bucket", "AuditCopy");
const onBucket = (action: string): readonly IamRequest[] => [
  { action: `s3:${action}`, resource: `${COPIES}/${ACCOUNT}/0000000001/${KEY_HASH}`, context: {} },
];
const table = (action: string) => onArn(`dynamodb:${action}`, "dynamodb", "table/Ledger");
const role = (action: string) => onArn(`iam:${action}`, "iam", "role/Prod-Service-PurchaseRole");

/** The attacks by their effect: each of an attack's requests would have it. */
export const attacks = {
  "mint a wallet": put(`wallet#${ACCOUNT}`),
  "change a balance": update(`wallet#${ACCOUNT}`),
  "put a funding": put("funding#BANK-1"),
  "put an adjustment": put(`adjustment#${ACCOUNT}#case-1`),
  "become owner of an account": put(`account#${ACCOUNT}`),
  "change an account": update(`account#${ACCOUNT}`),
  "put an order": put("transaction#DATA_1"),
  "change a transaction": update("transaction#DATA_1"),
  "settle an order": setOf("transaction#DATA_1", "status"),
  "remove the phone number from an order": setOf("transaction#DATA_1", "phone_number"),
  "claim an upstream reference": update("upstream-reference#UP-1"),
  "hide a wrong balance": put(`checkpoint#${ACCOUNT}`),
  "put a consent": put("consent#transaction#DATA_1"),
  "change a consent": update("consent#transaction#DATA_1"),
  "remove the person from a consent": setOf("consent#transaction#DATA_1", "subject"),
  "put an audit entry, over another one too": onTable("PutItem", "Audit", { Item: auditKey("entry") }),
  "attest an audit entry": onTable("PutItem", "Audit", { Item: auditKey("attestation") }),
  "change an audit entry": [
    ...onTable("UpdateItem", "Audit", { Key: auditKey("entry"), UpdateExpression: "SET stolen = :it" }),
    ...onArn("dynamodb:PartiQLUpdate", "dynamodb", "table/Audit"),
  ],
  "put a false copy of an audit entry": onBucket("PutObject"),
  "delete, unlock or hide a copy of an audit entry": [
    ...onBucket("DeleteObject"),
    ...onBucket("DeleteObjectVersion"),
    ...onBucket("BypassGovernanceRetention"),
    ...onBucket("PutObjectRetention"),
    ...["PutBucketObjectLockConfiguration", "PutBucketPolicy", "DeleteBucketPolicy", "PutLifecycleConfiguration"].map(
      (action) => ({ action: `s3:${action}`, resource: COPIES, context: {} }),
    ),
  ],
  "replace the hash of the reference key": put("reference-key#"),
  "put an API key": onTable("PutItem", "Access", { Item: { pk: KEY_HASH } }),
  "give an API key permissions": changeKey("permissions"),
  "give an API key another account": changeKey("account_id"),
  "widen an API key's whitelist": changeKey("whitelist"),
  "make an API key's minute unlimited": changeKey("vtu:29412345"),
  "switch purchases on": onTable("PutItem", "Cache", { Item: { pk: "purchases" } }),
  "change the catalog": onTable("PutItem", "Cache", { Item: { pk: "catalog" } }),
  "delete an item": [
    ...onTable("DeleteItem", "Audit", { Key: auditKey("entry") }),
    ...onTable("DeleteItem", "Audit", { Key: auditKey("attestation") }),
    ...onArn("dynamodb:BatchWriteItem", "dynamodb", "table/Audit"),
    ...onTable("DeleteItem", "Ledger", { Key: { pk: `wallet#${ACCOUNT}` } }),
    ...onTable("DeleteItem", "Access", { Key: { pk: KEY_HASH } }),
    ...table("BatchWriteItem"),
    ...table("PartiQLDelete"),
  ],
  // A stream has the items before and after each change, phone numbers and endpoints' sealed secrets among them.
  "read every change of a table": [
    ...onArn("dynamodb:GetRecords", "dynamodb", "table/Ledger/stream/2026-11-23T00:00:00.000"),
    ...onArn("dynamodb:GetRecords", "dynamodb", "table/Audit/stream/2026-11-23T00:00:00.000"),
  ],
  // Phone numbers among them.
  "read an order": read("Ledger", "transaction#DATA_1"),
  "read a consent": read("Ledger", "consent#transaction#DATA_1"),
  "read the result of an identity check": read("Cache", "replay#transaction#ID_1"),
  // Addresses, owners and sealed secrets of webhooks.
  "read an account": read("Ledger", `account#${ACCOUNT}`),
  "read whose an account is": read("Ledger", "owner#hash"),
  "read a person": [...read("Ledger", "person#hash"), ...read("Ledger", "recipient#hash")],
  "read an API key's item": read("Access", KEY_HASH),
  "read a balance": read("Ledger", `wallet#${ACCOUNT}`),
  "read a payment": read("Ledger", "funding#BANK-1"),
  "read prices": read("Ledger", `price-list#${ACCOUNT}`),
  "read a statement of the upstream": read("Ledger", "statement-rows#2026-11-23#1#0"),
  "read a proposal": read("Ledger", "proposal#1"),
  "read all items": [
    ...onTable("Scan", "Ledger", {}),
    ...onTable("Scan", "Access", {}),
    ...table("PartiQLSelect"),
    ...table("ExportTableToPointInTime"),
  ],
  "destroy a table or its backups": [
    ...table("DeleteTable"),
    ...table("UpdateTable"),
    ...table("UpdateContinuousBackups"),
    ...table("UpdateTimeToLive"),
    ...onArn("dynamodb:DeleteBackup", "dynamodb", "table/Ledger/backup/1"),
    ...onArn("backup:DeleteRecoveryPoint", "backup", "recovery-point:1"),
    ...onArn("backup:DeleteBackupVault", "backup", "backup-vault:prod-airtime-backups"),
  ],
  "share a table or a secret": [
    ...table("PutResourcePolicy"),
    ...onArn("secretsmanager:PutResourcePolicy", "secretsmanager", "secret:UpstreamKey-a1b2c3"),
  ],
  "change or delete a secret": [
    ...onArn("secretsmanager:PutSecretValue", "secretsmanager", "secret:UpstreamKey-a1b2c3"),
    ...onArn("secretsmanager:UpdateSecret", "secretsmanager", "secret:ReferenceKey-a1b2c3"),
    ...onArn("secretsmanager:DeleteSecret", "secretsmanager", "secret:ReferenceKey-a1b2c3"),
  ],
  // With it, the person behind each hash is found by trying all numbers.
  "hash numbers of persons": onArn("kms:GenerateMac", "kms", "key/IdentityKey"),
  "change, share or delete the identity key": [
    ...onArn("kms:PutKeyPolicy", "kms", "key/IdentityKey"),
    ...onArn("kms:CreateGrant", "kms", "key/IdentityKey"),
    ...onArn("kms:VerifyMac", "kms", "key/IdentityKey"),
    ...onArn("kms:DisableKey", "kms", "key/IdentityKey"),
    ...onArn("kms:ScheduleKeyDeletion", "kms", "key/IdentityKey"),
  ].map((request) => ({ ...request, context: { "kms:KeySpec": "HMAC_256" } })),
  "empty, redirect or delete a queue": [
    ...onArn("sqs:PurgeQueue", "sqs", "OutcomesQueue"),
    ...onArn("sqs:PurgeQueue", "sqs", "OutcomesDeadLetters"),
    ...onArn("sqs:SetQueueAttributes", "sqs", "OutcomesQueue"),
    ...onArn("sqs:AddPermission", "sqs", "OutcomesQueue"),
    ...onArn("sqs:DeleteQueue", "sqs", "OutcomesQueue"),
  ],
  "become another role": [
    ...onArn("sts:AssumeRole", "iam", "role/Prod-Service-ConsoleApiRole"),
    ...onArn("sts:AssumeRole", "iam", `role/cdk-airtime-deploy-role-${ACCOUNT_ID}-${REGION}`),
    ...role("PassRole"),
    ...role("PutRolePolicy"),
    ...role("AttachRolePolicy"),
    ...role("UpdateAssumeRolePolicy"),
    ...onArn("iam:CreateAccessKey", "iam", "user/ada"),
    ...onArn("iam:CreatePolicyVersion", "iam", "policy/prod-airtime-operator-read"),
  ],
  "change or call a function": [
    ...onArn("lambda:UpdateFunctionCode", "lambda", "function:Purchase"),
    ...onArn("lambda:UpdateFunctionConfiguration", "lambda", "function:Purchase"),
    ...onArn("lambda:AddPermission", "lambda", "function:Purchase"),
    ...onArn("lambda:InvokeFunction", "lambda", "function:ConsoleApi"),
    ...onArn("lambda:InvokeFunction", "lambda", "function:ApplyUpstreamEvent"),
    ...onArn("execute-api:Invoke", "execute-api", "apihttp/$default/POST/operations/operator/wallet/fund"),
  ],
  "silence alarms, logs or schedules": [
    ...onArn("cloudwatch:DeleteAlarms", "cloudwatch", "alarm:prod"),
    ...onArn("cloudwatch:DisableAlarmActions", "cloudwatch", "alarm:prod"),
    ...onArn("sns:Unsubscribe", "sns", "AlarmsTopic"),
    ...onArn("logs:DeleteLogGroup", "logs", "log-group:PurchaseLogs:*"),
    ...onArn("logs:PutRetentionPolicy", "logs", "log-group:PurchaseLogs:*"),
    ...onArn("logs:FilterLogEvents", "logs", "log-group:PurchaseLogs:*"),
    ...onArn("events:DisableRule", "events", "rule/SchedulesReconcileLedger"),
  ],
} as const satisfies Record<string, readonly IamRequest[]>;

export type Attack = keyof typeof attacks;

/** Every secret and queue by its name in the templates. */
const secrets = Object.values(secretTable).map(({ variable }) => outputOf(variable.replace(/_SECRET_ID$/, "")));
const queues = ["DeliveryQueue", "DeliveryDeadLetters", "OutcomesQueue", "OutcomesDeadLetters"];
queues.push("LedgerDeadLetters", "SchedulesDeadLetters");
const onEach = (action: string, type: string, names: readonly string[]): ReadonlyMap<string, IamRequest> =>
  new Map(names.map((name) => [name, { action, resource: arnOf(type, name), context: {} }]));
export const secretReads = onEach("secretsmanager:GetSecretValue", "AWS::SecretsManager::Secret", secrets);
export const queueSends = onEach("sqs:SendMessage", "AWS::SQS::Queue", queues);
export const queueReads = onEach("sqs:ReceiveMessage", "AWS::SQS::Queue", queues);
