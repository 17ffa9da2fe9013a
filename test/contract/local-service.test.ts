import { request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { text as textOf } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { setAccountLimits, setAccountStatus, setDuplicateWindow, setWhitelist } from "../../shared/access/accounts.ts";
import { hashApiKey } from "../../shared/access/api-key.ts";
import { DUPLICATE_WINDOW_S_MAX } from "../../shared/contract/duplicate-window.ts";
import type { ErrorCode } from "../../shared/contract/errors.ts";
import { appRoutes } from "../../shared/contract/routes.ts";
import type { Mode } from "../../shared/contract/transaction.ts";
import { localTableNames } from "../../tools/local/tables.ts";
import { changeItem } from "../builders/dynamodb/change-item.ts";
import { startTestService } from "../builders/service/service.ts";
import type { DocumentedOperation } from "./document.ts";
import { send } from "./exchange.ts";
import { anOrderOf } from "./provocations.ts";
import { contractSuite } from "./suite.ts";

const service = await startTestService();
afterAll(() => service.stop());

const newKey = async (mode: Mode): Promise<string> => {
  const caller = await service.newCaller();
  return mode === "live" ? caller.key : caller.newKey({ mode });
};

/** A key whose every request gets the error. */
const keyFor = async (code: ErrorCode, operation: DocumentedOperation): Promise<string> => {
  const caller = await service.newCaller();
  if (code === "limit_reached") {
    await setAccountLimits(service.accounts, caller.accountId, { order_naira: 1 });
    return caller.key;
  }
  if (code === "possible_duplicate") {
    await setDuplicateWindow(service.accounts, caller.accountId, DUPLICATE_WINDOW_S_MAX);
    await send(service.baseUrl, operation, { key: caller.key, body: anOrderOf(operation) });
    return caller.key;
  }
  const permissions = code === "permission_denied" ? { permissions: [] } : {};
  const key = await caller.newKey({ mode: "test", ...permissions });
  if (code === "account_restricted") await setAccountStatus(service.accounts, caller.accountId, "restricted");
  if (code === "ip_not_whitelisted") await setWhitelist(service.accounts, caller.accountId, ["203.0.113.7"]);
  if (code === "internal_error") await corrupt(key);
  return key;
};

/** Makes the key's item invalid. */
const corrupt = (key: string): Promise<void> =>
  changeItem({ db: service.db, table: localTableNames.access }, hashApiKey(key), { mode: "invalid" });

const untested = contractSuite({
  name: "the local service",
  scope: "service",
  modes: ["live", "test"],
  arranges: [
    ...(["account_restricted", "permission_denied", "ip_not_whitelisted", "internal_error"] as const),
    ...(["possible_duplicate", "limit_reached"] as const),
  ],
  open: async () => ({ baseUrl: service.baseUrl, key: newKey, arrange: keyFor, close: async () => {} }),
});

test("every documented error is tested, except delivery_failed of checks, internal_error of orders and documents, and provider_unavailable of the catalog and of cancellations", () => {
  // Tested in check-identity.test.ts, place-order.test.ts and cancel-order.test.ts of test/integration/shared.
  const elsewhere = (one: string): boolean =>
    /^(verify|retrieve).* delivery_failed$/.test(one) ||
    /^(buy|verify|retrieve|cancel).* internal_error$/.test(one) ||
    one === "cancelOrder provider_unavailable";
  expect(untested.filter((one) => !elsewhere(one))).toEqual([
    // Tested in test/contract/never-fetched.test.ts.
    "listCatalog provider_unavailable",
    // No request of a caller provokes it.
    "describeApi internal_error",
    "showDocs internal_error",
  ]);
});

describe("a request without a route", () => {
  const paths = [
    "/",
    "/v1",
    "/v1/",
    "/v1/nothing",
    "/v2/wallet",
    "/v1/wallet/",
    "/v1//wallet",
    "/v1/Wallet",
    "/v1/vtu",
    "/v1/vtu/data/purchase/more",
    "/v1/transactions/",
    "/v1/transactions/a/b",
    "/v1/transactions/%E0%A4%A",
    "/v1/openapi.yaml",
    "/v1/docs/",
    "/v1/%77allet%00",
    "/v1/../wallet",
  ];
  const unknownPaths = paths.flatMap((path) => [`GET ${path}`, `POST ${path}`]);
  const others = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD", "PROPFIND"];
  const wrongMethods = Object.values(appRoutes)
    .flatMap(({ method, path }) =>
      others
        .filter((other) => other !== method)
        .map((other) => `${other} ${path.replace("{reference}", "order-1042")}`),
    )
    // The lookup of an order whose reference is `cancel`.
    .filter((request) => request !== "GET /v1/transactions/cancel");

  let key = "";
  beforeAll(async () => {
    key = await newKey("live");
  });

  test.each([...unknownPaths, ...wrongMethods])(
    "a request without a route, %s, is 404 not_found with the catalog group's full rate, with and without a key",
    async (request) => {
      const [method = "", path = ""] = request.split(" ");
      const keys: readonly Record<string, string>[] = [{}, { authorization: `Bearer ${key}` }];
      for (const headers of keys) {
        const { status, headers: received, text } = await rawRequest(method, path, headers);
        expect(status).toBe(404);
        expect(received).toMatchObject({
          "content-type": "application/json; charset=utf-8",
          "cache-control": "no-store",
          "x-error-code": "not_found",
          "x-ratelimit-limit": "120",
          "x-ratelimit-remaining": "120",
          "x-request-id": expect.stringMatching(/./),
        });
        if (method !== "HEAD") expect(JSON.parse(text)).toEqual({ status: false, message: "No such resource" });
      }
    },
  );

  /** Sends the path unchanged; fetch would normalise it. */
  const rawRequest = (method: string, path: string, headers: Record<string, string>) =>
    new Promise<{ status: number; headers: IncomingHttpHeaders; text: string }>((resolve, reject) => {
      const { hostname, port } = new URL(service.baseUrl);
      const request = httpRequest({ hostname, port, method, path, headers }, (response) => {
        textOf(response).then(
          (text) => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
          reject,
        );
      });
      request.once("error", reject).end();
    });
});
