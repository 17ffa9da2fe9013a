import { expect, test } from "vitest";
import { dynamoDbRequests } from "../../../builders/iam/dynamodb-requests.ts";

/** Goal: what IAM is asked for a call is what AWS documents of its condition keys. */
const asked = (operation: string, input: unknown) => dynamoDbRequests(operation, input, (table) => `arn of ${table}`);

test("a write names its key, the attributes that it sets and compares, and what it returns", () => {
  const update = {
    TableName: "access",
    Key: { pk: { S: "hash" } },
    UpdateExpression: "SET #a.#b[0] = if_not_exists(#c, :zero) ADD counted :one REMOVE #stale",
    ConditionExpression: "attribute_exists(pk) AND (#a <> :a OR NOT size(photo) BETWEEN :zero AND :one)",
    ExpressionAttributeNames: { "#a": "owner", "#b": "name", "#c": "vtu:1", "#stale": "vtu:0" },
    ReturnValues: "ALL_NEW",
  };
  expect(asked("UpdateItem", update)).toEqual([
    {
      action: "dynamodb:UpdateItem",
      resource: "arn of access",
      context: {
        "dynamodb:LeadingKeys": ["hash"],
        "dynamodb:Attributes": ["pk", "owner", "photo", "vtu:1", "counted", "vtu:0"],
        "dynamodb:ReturnValues": "ALL_NEW",
      },
    },
  ]);
  const [put] = asked("Put", { TableName: "ledger", Item: { pk: "wallet#a", balance_kobo: 1 } });
  expect(put?.context).toEqual({
    "dynamodb:LeadingKeys": ["wallet#a"],
    "dynamodb:Attributes": ["pk", "balance_kobo"],
    "dynamodb:ReturnValues": "NONE",
  });
});

test("each part of a transaction is asked for by its own action, and each table of a batch once", () => {
  const Key = { pk: "wallet#a" };
  const TransactItems = [
    { Put: { TableName: "ledger", Item: { pk: "audit#1" } } },
    { Update: { TableName: "ledger", Key, UpdateExpression: "SET balance = :b" } },
    { ConditionCheck: { TableName: "ledger", Key, ConditionExpression: "attribute_exists(pk)" } },
  ];
  const parts = asked("TransactWrite", { TransactItems });
  expect(parts.map(({ action }) => action)).toEqual([
    "dynamodb:PutItem",
    "dynamodb:UpdateItem",
    "dynamodb:ConditionCheckItem",
  ]);
  for (const { context } of parts) expect(context["dynamodb:EnclosingOperation"]).toEqual(["TransactWriteItems"]);
  const Keys = [{ pk: { S: "wallet#a" } }, { pk: { S: "account#a" } }];
  expect(
    asked("BatchGetItem", { RequestItems: { ledger: { Keys, ProjectionExpression: "pk, status" }, cache: { Keys } } }),
  ).toEqual([
    {
      action: "dynamodb:BatchGetItem",
      resource: "arn of ledger",
      context: {
        "dynamodb:LeadingKeys": ["wallet#a", "account#a"],
        "dynamodb:Attributes": ["pk", "status"],
        "dynamodb:Select": "SPECIFIC_ATTRIBUTES",
      },
    },
    expect.objectContaining({
      resource: "arn of cache",
      context: expect.objectContaining({ "dynamodb:Select": "ALL_ATTRIBUTES" }),
    }),
  ]);
});

test("a query is asked for on its index, with the partition that it reads; a scan has no leading key", () => {
  const query = {
    TableName: "ledger",
    IndexName: "by_open",
    KeyConditionExpression: "#open = :open AND listed_at < :until",
    ExpressionAttributeNames: { "#open": "open" },
    ExpressionAttributeValues: { ":open": { S: "live" }, ":until": { S: "2026" } },
  };
  expect(asked("Query", query)).toEqual([
    {
      action: "dynamodb:Query",
      resource: "arn of ledger/index/by_open",
      context: {
        "dynamodb:LeadingKeys": ["live"],
        "dynamodb:Attributes": ["open", "listed_at"],
        "dynamodb:Select": "ALL_PROJECTED_ATTRIBUTES",
      },
    },
  ]);
  expect(asked("Scan", { TableName: "ledger" })[0]?.context).not.toHaveProperty("dynamodb:LeadingKeys");
  expect(() => asked("ExecuteStatement", { Statement: "SELECT * FROM ledger" })).toThrow("ExecuteStatement");
});
