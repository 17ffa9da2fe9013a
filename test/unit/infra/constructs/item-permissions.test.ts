import { describe, expect, test } from "vitest";
import type { TableGrants, TableName } from "../../../../functions/function-spec.ts";
import { type FunctionName, functionNames, specOf } from "../../../../infra/functions.ts";
import {
  auditItemKinds,
  auditKeyPattern,
  itemKindOf,
  itemKinds,
  keyPatternOf,
  type LedgerItemKind,
} from "../../../../shared/ledger/schema.ts";
import { orderShape } from "../../../../shared/notifications/findings.ts";
import { cacheItemKinds, cacheKeyPattern } from "../../../../shared/platform/cache-keys.ts";
import { dynamoDbRequests } from "../../../builders/iam/dynamodb-requests.ts";
import { evaluate } from "../../../builders/iam/evaluate.ts";
import { arnOf, resolverOf } from "../../../builders/iam/resolve.ts";
import { stagePolicies } from "../../../builders/iam/roles.ts";
import { everyFunction } from "../../../builders/templates/console.ts";
import { templatesOf } from "../../../builders/templates/templates.ts";

/** Goal: a function's role reads and writes only the kinds of items that its spec names, whatever code runs with it. */
const { functions } = stagePolicies(templatesOf("prod", everyFunction));

/** A call to a table as IAM sees it. Each part of a transaction is a call of its own. */
type ItemCall = {
  readonly action: "GetItem" | "BatchGetItem" | "PutItem" | "UpdateItem" | "DeleteItem" | "ConditionCheckItem" | "Scan";
  readonly table: "Access" | "Ledger" | "Audit" | "Cache";
  /** The partition keys that the request names. */
  readonly keys: readonly string[];
  /** The other attributes that it names. */
  readonly attributes?: readonly string[];
};

/** A key of an item of each kind. */
const ACCOUNT = "acc_d7bdaab58fca8a5d05";
const KEY_HASH = "JiLR5YO01Fhyau_mpHxrrzEAAlXpLpf2qP-NjAmzo6Q";
const keyOf = (kind: LedgerItemKind): string => `${kind}#${ACCOUNT}`;
const auditKeyOf = (kind: string): string => `${kind}#${ACCOUNT}`;
const cacheKeyOf = (kind: string): string =>
  cacheKeyPattern(cacheItemKinds.find((each) => each === kind) ?? "replay").replace("*", "transaction#1");

const update = (key: string, ...attributes: readonly string[]): ItemCall => ({
  action: "UpdateItem",
  table: "Access",
  keys: [key],
  attributes,
});
const isAllowed = (name: FunctionName, { action, table, keys, attributes = [] }: ItemCall): boolean => {
  const names = keys.length > 0 ? ["pk", ...attributes] : attributes;
  const context = { "dynamodb:LeadingKeys": keys, "dynamodb:Attributes": names };
  const request = { action: `dynamodb:${action}`, resource: arnOf("AWS::DynamoDB::Table", table), context };
  return evaluate(functions.get(name) ?? [], request) === "allowed";
};

const READS = ["GetItem", "BatchGetItem"] as const;
const WRITES = ["PutItem", "UpdateItem", "ConditionCheckItem", "DeleteItem"] as const;
/** The kinds of items of the ledger that a function may write in any way. */
const writableBy = (name: FunctionName): readonly LedgerItemKind[] =>
  itemKinds.filter((kind) =>
    WRITES.some((action) => isAllowed(name, { action, table: "Ledger", keys: [keyOf(kind)] })),
  );

describe("what an attacker with a function's role may not do", () => {
  // attacks.test.ts has the other kinds.
  test.each<[kind: LedgerItemKind, writers: readonly FunctionName[]]>([
    ["owner", ["console-api"]],
    ["person", ["console-api"]],
    ["endpoint-health", ["deliver-webhook"]],
    ["statement", ["reconcile-statement"]],
    ["statement-rows", ["reconcile-statement"]],
    ["statement-case", ["reconcile-statement"]],
    ["proposal", ["console-api"]],
  ])("items of the kind %s are written by those functions only that need it", (kind, writers) => {
    expect(functionNames.filter((name) => writableBy(name).includes(kind))).toEqual(writers);
  });

  test("no function scans a table, or deletes an item without naming its key", () => {
    for (const name of functionNames) {
      for (const table of ["Access", "Ledger", "Audit", "Cache"] as const) {
        for (const action of ["DeleteItem", "Scan"] as const) {
          expect(isAllowed(name, { action, table, keys: [] }), `${name} ${table}`).toBe(false);
        }
      }
    }
  });

  test("with the role of send-notifications, which connects to hosts that people choose, nobody reads a phone number", () => {
    const orders = (more: object) => ({ RequestItems: { Ledger: { Keys: [{ pk: "transaction#DATA_1" }], ...more } } });
    const list = (more: object) => ({
      ...{ TableName: "Ledger", IndexName: "by_list", KeyConditionExpression: "list_key = :of" },
      ...{ ExpressionAttributeValues: { ":of": `${ACCOUNT}#live` }, ...more },
    });
    const isRead = (operation: string, input: object): boolean =>
      dynamoDbRequests(operation, input, (table) => arnOf("AWS::DynamoDB::Table", table)).every(
        (request) => evaluate(functions.get("send-notifications") ?? [], request) === "allowed",
      );
    const names = Object.keys(orderShape.shape).map((name, index) => [`#${index}`, name] as const);
    const asItDoes = {
      ProjectionExpression: names.map(([name]) => name).join(", "),
      ExpressionAttributeNames: Object.fromEntries(names),
    };
    expect(isRead("BatchGetItem", orders(asItDoes))).toBe(true);
    expect(isRead("BatchGetItem", orders({}))).toBe(false);
    expect(isRead("BatchGetItem", orders({ ProjectionExpression: "pk, phone_number" }))).toBe(false);
    expect(isRead("Query", list({ ProjectionExpression: "pk, list_key, created_at" }))).toBe(true);
    expect(isRead("Query", list({}))).toBe(false);
    expect(isRead("Query", list({ ProjectionExpression: "pk, description" }))).toBe(false);
  });

  test("one key of another kind denies the request, and so does a request without a key", () => {
    const keys = [keyOf("delivery"), keyOf("wallet")];
    expect(isAllowed("deliver-webhook", { action: "PutItem", table: "Ledger", keys })).toBe(false);
    expect(isAllowed("deliver-webhook", { action: "PutItem", table: "Ledger", keys: [] })).toBe(false);
    expect(isAllowed("deliver-webhook", { action: "PutItem", table: "Ledger", keys: keys.slice(0, 1) })).toBe(true);
  });
});

const counting = functionNames.filter((name) => specOf(name).tables?.access !== undefined && name !== "console-api");

test.each(counting)(
  "%s counts requests in an API key's item, and may neither change nor test any other attribute",
  (name) => {
    expect(isAllowed(name, update(KEY_HASH, "vtu:29412345", "vtu:29412344"))).toBe(true);
    for (const attribute of [
      "account_id",
      "account_status",
      "permissions",
      "entitlements",
      "whitelist",
      "status",
      "expires_at",
      "mode",
      "key_id",
    ]) {
      expect(isAllowed(name, update(KEY_HASH, attribute)), attribute).toBe(false);
      expect(isAllowed(name, update(KEY_HASH, "vtu:29412345", attribute)), attribute).toBe(false);
    }
    expect(isAllowed(name, { action: "UpdateItem", table: "Access", keys: [] })).toBe(false);
  },
);

test("the keys of one kind of items are never those of another", () => {
  const matching = (patterns: readonly string[], key: string): readonly string[] =>
    patterns.filter((pattern) => (pattern.endsWith("*") ? key.startsWith(pattern.slice(0, -1)) : key === pattern));
  const ledger = itemKinds.map(keyPatternOf);
  for (const kind of itemKinds) {
    expect(matching(ledger, keyOf(kind))).toEqual([keyPatternOf(kind)]);
    expect(itemKindOf(keyOf(kind))).toBe(kind);
  }
  const audit = auditItemKinds.map(auditKeyPattern);
  for (const kind of auditItemKinds) expect(matching(audit, auditKeyOf(kind))).toEqual([auditKeyPattern(kind)]);
  const cache = cacheItemKinds.map(cacheKeyPattern);
  for (const kind of cacheItemKinds) expect(matching(cache, cacheKeyOf(kind))).toEqual([cacheKeyPattern(kind)]);
});

test("every function may read and write the kinds that its spec names, and no other", () => {
  const tables: Readonly<Record<Exclude<TableName, "access">, readonly string[]>> = {
    ledger: itemKinds,
    audit: auditItemKinds,
    cache: cacheItemKinds,
  };
  for (const name of functionNames) {
    for (const [table, kinds] of Object.entries(tables)) {
      for (const action of [...READS, ...WRITES]) {
        const call = (kind: string): ItemCall =>
          table === "ledger"
            ? { action, table: "Ledger", keys: [`${kind}#1`] }
            : table === "audit"
              ? { action, table: "Audit", keys: [auditKeyOf(kind)] }
              : { action, table: "Cache", keys: [cacheKeyOf(kind)] };
        const { reads, readsInPart, ...writes } =
          new Map(Object.entries<TableGrants<string>>(specOf(name).tables ?? {})).get(table) ?? {};
        // A part of an item has its key at least.
        const inBatch = [...(reads ?? []), ...(readsInPart?.kinds ?? [])];
        const named = { ...writes, GetItem: reads, BatchGetItem: inBatch, DeleteItem: [] };
        expect(new Set(kinds.filter((kind) => isAllowed(name, call(kind)))), `${name} ${table} ${action}`).toEqual(
          new Set(named[action]),
        );
      }
    }
  }
});

/** Source: AWS, "IAM and AWS STS quotas": inline policies of a role, without white space. */
const ROLE_POLICIES_CHARACTERS_MAX = 10_240;
/**
 * By how much an ARN of a stage can be longer than here: the names of its stage and stack (25), what CDK and CloudFormation
 * append to the resource's (22), and the names of partition and region (11).
 */
const ARN_CHARACTERS = 58;

test.each(functionNames)("the policies of the role of %s stay far below IAM's limit", (name) => {
  const text = JSON.stringify(functions.get(name) ?? []).replaceAll("arn:", `arn:${"a".repeat(ARN_CHARACTERS)}`);
  expect(text.length).toBeLessThan(ROLE_POLICIES_CHARACTERS_MAX * 0.8);
});

/** Source: the same, a managed policy, without white space. */
const MANAGED_POLICY_CHARACTERS_MAX = 6_144;

test("each policy of operators fits into a managed policy, whatever the stage, its region and its settings", () => {
  const front = { kind: "private", vpcEndpointIds: ["vpce-0a1b2c3d"] };
  const templates = templatesOf("prod", { ...everyFunction, front });
  const resolve = resolverOf(Object.values(templates).filter((stack) => stack !== undefined));
  const lengths = templates.administrator.all("AWS::IAM::ManagedPolicy").map(({ Properties }) => {
    const text = JSON.stringify(resolve(Properties.PolicyDocument));
    return [Properties.ManagedPolicyName, text.replaceAll("arn:", `arn:${"a".repeat(ARN_CHARACTERS)}`).length] as const;
  });
  expect(lengths.length).toBeGreaterThan(5);
  expect(lengths.filter(([, length]) => length > MANAGED_POLICY_CHARACTERS_MAX)).toEqual([]);
});
