import { afterAll, beforeAll, expect, test } from "vitest";
import { routes } from "../../shared/contract/routes.ts";
import { readWallet } from "../../shared/ledger/wallet.ts";
import { koboFromNaira } from "../../shared/platform/money.ts";
import { anOrder } from "../builders/service.ts";
import { transactionsOf } from "./invariants.ts";
import { closeTestAccount } from "./recovery.ts";
import { advance } from "./system/clock.ts";
import { type System, startSystem } from "./system/system.ts";
import { type AppEndpoint, openAppEndpoint, openTestAccount } from "./test-account.ts";

let system: System;
let endpoint: AppEndpoint;
beforeAll(async () => {
  system = await startSystem();
  endpoint = await openAppEndpoint();
  await system.runSchedule("refresh-catalog");
});
afterAll(async () => {
  await endpoint.stop();
  await system.stop();
});

/** The queue hides the refund for so long, because the debit may still arrive. */
const REFUND_DELAY_MS = 60_000;

test("a debit that was made although its purchase was answered 502 is refunded 60 s later, and nothing goes upstream", async () => {
  const account = await openTestAccount(system, endpoint, 1_000);
  const { ledger, eventSources } = system;
  const balance = async () => (await readWallet(ledger, account.accountId)).balance_kobo;
  let isDebitSent = false;
  system.plan = ({ place, name }) => {
    if (place !== "dynamodb") return undefined;
    if (name === "TransactWriteItems") isDebitSent = true;
    if (!isDebitSent) return undefined;
    return name === "TransactWriteItems" ? "answer_lost" : "never_arrives";
  };
  const answer = await system.call(routes.buyData, account.keys.live, anOrder());
  system.plan = () => undefined;
  expect(answer).toMatchObject({ statusCode: 502, headers: { "x-error-code": "delivery_failed" } });

  advance(REFUND_DELAY_MS - 5_000);
  await eventSources.deliver();
  expect(await transactionsOf(account)).toMatchObject([{ status: "processing" }]);
  expect(await balance()).toBe(koboFromNaira(500));

  advance(10_000);
  await eventSources.deliver();
  expect(await transactionsOf(account)).toMatchObject([{ status: "failed" }]);
  expect(await balance()).toBe(koboFromNaira(1_000));
  expect(system.upstream.requests).toEqual([]);
  await closeTestAccount(account);
});
