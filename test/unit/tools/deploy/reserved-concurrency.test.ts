import { createServer } from "node:http";
import { afterAll, beforeEach, expect, test } from "vitest";
import { SettingsError } from "../../../../infra/settings-error.ts";
import { settingsOf } from "../../../../infra/stage-settings.ts";
import { stages } from "../../../../stages.ts";
import { assertReservable } from "../../../../tools/deploy/reserved-concurrency.ts";
import { setEnvironment } from "../../../../tools/local/local-aws.ts";
import { listenOnLoopback } from "../../../../tools/local/loopback.ts";

/** What AWS Lambda answers: the account's limit, the reservations by function, and whether it may be asked. */
const lambda = { limit: 1_000, unreserved: 1_000, reserved: new Map<string, number>(), isDenied: false };
let requests = 0;

const server = createServer((request, response) => {
  requests += 1;
  const end = (status: number, body: object, error = ""): void =>
    void response.writeHead(status, { "x-amzn-errortype": error }).end(JSON.stringify(body));
  if (lambda.isDenied) return end(403, { Message: "not authorized" }, "AccessDeniedException");
  if (request.url === "/2016-08-19/account-settings") {
    const { limit, unreserved } = lambda;
    return end(200, { AccountLimit: { ConcurrentExecutions: limit, UnreservedConcurrentExecutions: unreserved } });
  }
  const [, name = ""] = /^\/2019-09-30\/functions\/([^/]+)\/concurrency$/.exec(request.url ?? "") ?? [];
  const reserved = lambda.reserved.get(name);
  if (reserved === undefined) return end(404, { Message: "no such function" }, "ResourceNotFoundException");
  return end(200, { ReservedConcurrentExecutions: reserved });
});
const port = await listenOnLoopback(server);
const leave = setEnvironment({
  AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`,
  AWS_REGION: "us-east-1",
  AWS_ACCESS_KEY_ID: "key",
  AWS_SECRET_ACCESS_KEY: "key",
});
afterAll(() => {
  leave();
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  Object.assign(lambda, { limit: 1_000, unreserved: 1_000, reserved: new Map(), isDenied: false });
  requests = 0;
});

const refuse = (reservedConcurrency: object) =>
  assertReservable("prod", settingsOf("prod", { prod: { ...settingsOf("prod", stages), reservedConcurrency } }));

test("a deployment that reserves concurrency in an account with a quota of 10 is refused with what to do", async () => {
  Object.assign(lambda, { limit: 10, unreserved: 10 });
  await expect(refuse({ purchase: 5 })).rejects.toThrow(
    new SettingsError(
      'Stage "prod" reserves 5 more concurrent executions (reservedConcurrency in stages.ts), but AWS keeps 100 of an account\'s for functions without a reservation, and this account has 10 of 10 unreserved. Lower what is reserved in a deployment before, remove reservedConcurrency, or ask AWS for a quota of 105 first: Service Quotas, AWS Lambda, Concurrent executions. Nothing was changed.',
    ),
  );
});

test("a deployment may reserve concurrency until AWS has 100 unreserved executions left, and none beyond", async () => {
  Object.assign(lambda, { unreserved: 305 });
  await refuse({ purchase: 200, "check-identity": 5 });
  await expect(refuse({ purchase: 200, "check-identity": 6 })).rejects.toThrow(/^Stage "prod" reserves 206 more /);
});

test("a deployment that reserves what its functions have reserved already is not refused", async () => {
  Object.assign(lambda, { unreserved: 100, reserved: new Map([["prod-airtime-purchase", 200]]) });
  await refuse({ purchase: 200 });
  await expect(refuse({ purchase: 201 })).rejects.toThrow(/^Stage "prod" reserves 1 more /);
});

test("a deployment that moves a reservation at the account's limit is refused, because CloudFormation may raise before it lowers", async () => {
  const reserved = new Map([
    ["prod-airtime-purchase", 200],
    ["prod-airtime-check-identity", 20],
  ]);
  Object.assign(lambda, { unreserved: 109, reserved });
  await expect(refuse({ purchase: 190, "check-identity": 30 })).rejects.toThrow(
    /^Stage "prod" reserves 10 more .* Lower what is reserved in a deployment before, remove reservedConcurrency, or ask /,
  );
  Object.assign(lambda, { unreserved: 110 });
  await refuse({ purchase: 190, "check-identity": 30 });
});

test("credentials that must not read Lambda's limits leave the check of reservations to CloudFormation", async () => {
  Object.assign(lambda, { limit: 10, unreserved: 10, isDenied: true });
  await refuse({ purchase: 5 });
  expect(requests).toBeGreaterThan(0);
});

test("a deployment that reserves no concurrency does not ask Lambda", async () => {
  await refuse({});
  expect(requests).toBe(0);
});
