import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { afterAll, beforeAll, expect, test } from "vitest";
import { tableNames } from "../../infra/local/tables.ts";
import { setAccountStatus, setWhitelist } from "../../shared/access/accounts.ts";
import { keyHash } from "../../shared/access/api-key.ts";
import type { ErrorCode } from "../../shared/contract/errors.ts";
import type { Mode } from "../../shared/contract/transaction.ts";
import { startTestService, type TestService } from "../builders/service.ts";
import { contractSuite } from "./suite.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.stop());

const newKey = async (mode: Mode): Promise<string> => {
  const caller = await service.newCaller();
  return mode === "live" ? caller.key : caller.newKey({ mode });
};

/** A key of an account that meets the error with whatever it sends. */
const keyFor = async (code: ErrorCode): Promise<string> => {
  const caller = await service.newCaller();
  const permissions = code === "permission_denied" ? { permissions: [] } : {};
  const key = await caller.newKey({ mode: "test", ...permissions });
  if (code === "account_restricted") await setAccountStatus(service.accounts, caller.accountId, "restricted");
  if (code === "ip_not_whitelisted") await setWhitelist(service.accounts, caller.accountId, ["203.0.113.7"]);
  if (code === "internal_error") await spoil(key);
  return key;
};

/** Makes the key's item one that cannot be read. */
const spoil = async (key: string): Promise<void> => {
  await service.db.send(
    new UpdateCommand({
      TableName: tableNames.access,
      Key: { pk: keyHash(key) },
      UpdateExpression: "SET #mode = :spoilt",
      ExpressionAttributeNames: { "#mode": "mode" },
      ExpressionAttributeValues: { ":spoilt": "spoilt" },
    }),
  );
};

const unasked = contractSuite({
  name: "the service on this machine",
  promises: "service",
  modes: ["live", "test"],
  arranges: ["account_restricted", "permission_denied", "ip_not_whitelisted", "internal_error"],
  open: async () => ({ baseUrl: service.baseUrl, key: newKey, arrange: keyFor, close: async () => {} }),
});

test("the service is asked for every error that it documents, but for these three", () => {
  expect(unasked).toEqual([
    // Below, with an upstream that is away.
    "listCatalog provider_unavailable",
    // Nothing that a caller can reach breaks them.
    "describeApi internal_error",
    "showDocs internal_error",
  ]);
});
