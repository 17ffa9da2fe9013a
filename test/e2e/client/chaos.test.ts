import { spawn } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import * as z from "zod";
import { createAccount, createKey } from "../../../shared/access/accounts.ts";
import { openTransactions } from "../../../shared/ledger/find-transactions.ts";
import { fundWallet } from "../../../shared/ledger/ledger-entry.ts";
import { referenceOf } from "../../../shared/ledger/transaction.ts";
import { readWallet } from "../../../shared/ledger/wallet.ts";
import { koboFromNaira, nairaFromKobo } from "../../../shared/platform/money.ts";
import { isoTime, sleep } from "../../../shared/platform/time.ts";
import { resolveTransaction } from "../../../shared/upstream-events/operator-resolution.ts";
import { cleanups, temporaryFolder } from "../../builders/cleanups.ts";
import { newApp, packedClient } from "../../builders/packed-client.ts";
import { startFaultyProxy } from "./faulty-proxy.ts";
import { type KillableService, startKillableService } from "./killable-service.ts";

const ORDERS = 500;
const PRICE_NAIRA = 500;
const ACCOUNTS = 5;
/** A key may send 60 requests per minute: 5 orders, with their retries. */
const KEYS_PER_ACCOUNT = 20;
/** The service is killed once the upstream has got this many orders. */
const KILL_AT = [150, 350];

/**
 * An app as its author would write it, but that it reports what it saw. Its short deadline makes outcomes unknown while
 * the service is down.
 */
const APP = `
import { AirtimeClient, OutcomeUnknownError } from "@airtime-service/client";

const { BASE_URL: baseUrl, KEYS, ORDERS } = process.env;
const clients = KEYS.split(",").map((apiKey) => new AirtimeClient({ baseUrl, apiKey }));
const report = { delivered: 0, reordered: 0, unknown: 0, timedOut: 0, errors: [] };

/** Buys until an answer is certain: a failed order was refunded, so it is ordered again with a new reference. */
const buy = async (client, index) => {
  const order = { networkId: 1, planId: 101, phoneNumber: "0803" + String(index).padStart(7, "0") };
  for (let round = 0; ; round += 1) {
    const reference = "order-" + index + "-" + round;
    if ((await settle(client, order, reference)) === "success") return;
    report.reordered += 1;
  }
};

const settle = async (client, order, reference) => {
  for (let repeated = false; ; repeated = true) {
    try {
      const { status } = await client.data.purchase(order, { reference, repeated, timeoutMs: 4_000 });
      if (status !== "processing") return status;
      const final = await client.transactions.wait(reference, { timeoutMs: 60_000 });
      return final.status;
    } catch (error) {
      if (error.transactionReference) return "failed";
      if (error instanceof OutcomeUnknownError) report.unknown += 1;
      else if (error.name !== "RateLimitedError" && error.name !== "UnavailableError") throw error;
      await new Promise((done) => setTimeout(done, 1_000));
    }
  }
};

const queue = Array.from({ length: Number(ORDERS) }, (_, index) => index);
const work = async () => {
  for (let index = queue.pop(); index !== undefined; index = queue.pop()) {
    await buy(clients[index % clients.length], index).then(
      () => (report.delivered += 1),
      (error) => report.errors.push(error.name + ": " + error.message),
    );
  }
};
await Promise.all(Array.from({ length: 40 }, work));
console.log(JSON.stringify(report));
`;

const reportSchema = z.object({
  delivered: z.number(),
  reordered: z.number(),
  unknown: z.number(),
  errors: z.array(z.string()),
});

test("500 bundles bought through a proxy that loses, repeats and replaces messages, while the service is killed twice, are each delivered and charged exactly once", async () => {
  const folder = temporaryFolder();
  const seed = Date.now() % 1_000_000_000;
  const packageFile = await packedClient(join(folder, "client"));
  const app = await newApp(join(folder, "app"), packageFile, { "app.js": APP });
  const service = await startKillableService(join(folder, "service"));
  cleanups.push(service.stop);
  const accounts = await openAccounts(service);
  const proxy = await startFaultyProxy(service.port, seed);
  cleanups.push(proxy.stop);

  const startedAt = performance.now();
  const child = spawn(process.execPath, [join(app, "app.js")], {
    stdio: ["ignore", "pipe", "inherit"],
    env: {
      ...process.env,
      BASE_URL: proxy.baseUrl,
      KEYS: accounts.flatMap(({ keys }) => keys).join(","),
      ORDERS: String(ORDERS),
    },
  });
  cleanups.push(() => child.kill("SIGKILL"));
  const output = text(child.stdout);
  const [printed] = await Promise.all([output, killAndResolve(service, output)]);
  const report = reportSchema.parse(JSON.parse(printed));
  console.log({
    seed,
    seconds: Math.round((performance.now() - startedAt) / 1_000),
    ...report,
    ...Object.fromEntries(proxy.counts),
  });

  expect(report).toMatchObject({ delivered: ORDERS, errors: [] });
  expect(report.unknown, "Some outcomes were unknown for a while").toBeGreaterThan(0);
  const delivered = service.simulator.state.purchases.filter(({ status }) => status === "success");
  expect(delivered).toHaveLength(ORDERS);
  expect(new Set(delivered.map(({ phoneNumber }) => phoneNumber)).size).toBe(ORDERS);
  const { ledger } = await service.admin();
  for (const { accountId } of accounts) {
    const { balance_kobo } = await readWallet(ledger, accountId);
    expect(nairaFromKobo(balance_kobo)).toBe(1_000);
  }
});

/** Accounts whose wallets hold what their share of the orders costs, and 1,000 NGN. */
const openAccounts = async (service: KillableService) => {
  const { accounts, ledger } = await service.admin();
  const opened: { readonly accountId: string; readonly keys: readonly string[] }[] = [];
  while (opened.length < ACCOUNTS) {
    const { account_id: accountId } = await createAccount(accounts, { name: "shop", whitelist: ["127.0.0.1"] });
    const amountKobo = koboFromNaira((ORDERS / ACCOUNTS) * PRICE_NAIRA + 1_000);
    await fundWallet(ledger, { accountId, fundingId: `first-${accountId}`, amountKobo });
    const keys: string[] = [];
    while (keys.length < KEYS_PER_ACCOUNT) {
      keys.push((await createKey(accounts, accountId, { mode: "live", permissions: ["vtu"] })).key);
    }
    opened.push({ accountId, keys });
  }
  return opened;
};

/** Kills and starts the service, and then resolves what the kills left open, until the app has ended. */
const killAndResolve = async (service: KillableService, appEnded: Promise<unknown>): Promise<void> => {
  let hasEnded = false;
  void appEnded.finally(() => {
    hasEnded = true;
  });
  const kills = [...KILL_AT];
  while (!hasEnded) {
    if (service.simulator.state.purchases.length >= (kills[0] ?? Number.POSITIVE_INFINITY)) {
      kills.shift();
      await service.kill();
      const killedAt = Date.now();
      await service.start();
      await resolveAbandoned(service, killedAt);
    }
    await sleep(20);
  }
  expect(kills).toEqual([]);
};

/** An operator waits until no request can be in flight; here their process is dead. */
const IN_FLIGHT_MS_MAX = 60_000;

/** What an operator does after a crash: a transaction that the killed process left open is what the upstream says. */
const resolveAbandoned = async (service: KillableService, killedAt: number): Promise<void> => {
  const admin = await service.admin();
  const ledger = { ...admin.ledger, clock: () => admin.ledger.clock() + IN_FLIGHT_MS_MAX };
  const abandoned = await openTransactions(ledger, { from: "0000", to: isoTime(killedAt) });
  const decision = { by: "client test", why: "the upstream's list" };
  for (const transaction of abandoned) {
    const order = service.simulator.state.purchases.find(({ reference }) => reference === referenceOf(transaction));
    await resolveTransaction(ledger, transaction, order?.status === "success" ? "success" : "failed", decision);
  }
};
