import { spawn } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import * as z from "zod";
import { createAccount, createKey } from "../../../shared/access/accounts.ts";
import { koboFromNaira, nairaFromKobo } from "../../../shared/contract/money.ts";
import { ALL_ENTITLEMENTS } from "../../../shared/contract/permission.ts";
import { openTransactions } from "../../../shared/ledger/find-transactions.ts";
import { fundWallet } from "../../../shared/ledger/ledger-entry.ts";
import { referenceOf } from "../../../shared/ledger/transaction.ts";
import { readWallet } from "../../../shared/ledger/wallet.ts";
import { isoTime, sleep } from "../../../shared/platform/time.ts";
import { resolveTransaction } from "../../../shared/upstream-events/operator-resolution.ts";
import { cleanups, temporaryFolder } from "../../builders/cleanups.ts";
import { newApp, packedClient } from "../../builders/packed-client.ts";
import { startFaultyProxy } from "./faulty-proxy.ts";
import { type KillableService, startKillableService } from "./killable-service.ts";

const PRICE_NAIRA = 500;
const ACCOUNTS = 5;
/** A key may send 60 requests per minute: 5 orders, with their retries. */
const KEYS_PER_ACCOUNT = 20;
/** Wallets are funded bit by bit, so that orders are refused for the balance, and copies of them placed later. */
const FUNDINGS = 10;
/** How long a wallet is short before the next funding. */
const SHORT_MS = 1_500;
const WALLETS_READ_MS = 100;

/**
 * An app as its author would write it, but that it reports what it saw. Its short deadline makes outcomes unknown while
 * the service is down. `settle` resolves with the end of an order, and with `undefined` while that is not certain.
 */
const app = (settle: string): string => `
${settle}
const report = { delivered: 0, reordered: 0, open: 0, errors: [] };

/** Buys until a bundle is delivered: an order that failed for good is ordered again with a new reference. */
const buy = async (apiKey, index) => {
  const order = { networkId: 1, planId: 101, phoneNumber: "0803" + String(index).padStart(7, "0") };
  for (let round = 0; ; round += 1) {
    let status;
    while (status === undefined) {
      status = await settle(apiKey, order, "order-" + index + "-" + round);
      if (status === "success") return;
      if (status === undefined) report.open += 1;
      await new Promise((done) => setTimeout(done, 1_000));
    }
    report.reordered += 1;
  }
};

const keys = process.env.KEYS.split(",");
const queue = Array.from({ length: Number(process.env.ORDERS) }, (_, index) => index);
const work = async () => {
  for (let index = queue.pop(); index !== undefined; index = queue.pop()) {
    await buy(keys[index % keys.length], index).then(
      () => (report.delivered += 1),
      (error) => report.errors.push(error.name + ": " + error.message),
    );
  }
};
await Promise.all(Array.from({ length: 40 }, work));
console.log(JSON.stringify(report));
`;

const WITH_CLIENT = `
import { AirtimeClient, OutcomeUnknownError, ServiceError, WaitEndedError } from "@airtime-service/client";
const clients = new Map();
const settle = async (apiKey, order, reference) => {
  const client = clients.get(apiKey) ?? new AirtimeClient({ baseUrl: process.env.BASE_URL, apiKey });
  clients.set(apiKey, client);
  try {
    const { status } = await client.data.purchase(order, { reference, timeoutMs: 4_000 });
    return status === "processing" ? (await client.transactions.wait(reference, { timeoutMs: 60_000 })).status : status;
  } catch (error) {
    if (error instanceof OutcomeUnknownError || error instanceof WaitEndedError) return undefined;
    if (error instanceof ServiceError) return "failed";
    throw error;
  }
};`;

/**
 * The retry rule without its two last parts: an error code is final, and whatever is answered is the order's answer.
 */
const WITHOUT_CLIENT = `
const ask = async (apiKey, method, path, body) => {
  const headers = { authorization: "Bearer " + apiKey, "content-type": "application/json" };
  const response = await fetch(process.env.BASE_URL + path, { method, headers, body: body && JSON.stringify(body) });
  const text = await response.text();
  const code = response.headers.get("x-error-code");
  if (code && response.headers.get("retry-after") === null) return { status: "failed" };
  return JSON.parse(text).data.transaction;
};
const settle = async (apiKey, { networkId, planId, phoneNumber }, reference) => {
  const body = { network_id: networkId, plan_id: planId, phone_number: phoneNumber, reference };
  for (let mayExist = false; ; ) {
    try {
      const { status } = await ask(apiKey, "POST", "/vtu/data/purchase", body);
      if (status === "failed" && mayExist) {
        const found = await ask(apiKey, "GET", "/transactions/" + reference);
        if (found.status !== "processing") return found.status;
      } else if (status !== "processing") return status;
    } catch {
      mayExist = true;
    }
    await new Promise((done) => setTimeout(done, 500));
  }
};`;

const reportSchema = z.object({
  delivered: z.number(),
  reordered: z.number(),
  open: z.number(),
  errors: z.array(z.string()),
});

type Sale = {
  readonly orders: number;
  /** What each account has more than its share of the orders costs, once it is funded. */
  readonly restNaira: number;
  /** The service is killed after each of these numbers of orders at the upstream. */
  readonly killsAt: readonly number[];
};

/** Buys bundles through the proxy, and returns what the app believes and what the upstream did. */
const sell = async (program: string, { orders, restNaira, killsAt }: Sale) => {
  const folder = temporaryFolder();
  const seed = Date.now() % 1_000_000_000;
  const packageFile = await packedClient(join(folder, "client"));
  const appFolder = await newApp(join(folder, "app"), packageFile, { "app.js": app(program) });
  const service = await startKillableService(join(folder, "service"));
  cleanups.push(service.stop);
  const accounts = await openAccounts(service);
  const proxy = await startFaultyProxy(service.port, seed);
  cleanups.push(proxy.stop);

  const startedAt = performance.now();
  const child = spawn(process.execPath, [join(appFolder, "app.js")], {
    stdio: ["ignore", "pipe", "inherit"],
    env: {
      ...process.env,
      BASE_URL: proxy.baseUrl,
      KEYS: accounts.flatMap(({ keys }) => keys).join(","),
      ORDERS: String(orders),
    },
  });
  cleanups.push(() => child.kill("SIGKILL"));
  const output = text(child.stdout);
  const [printed] = await Promise.all([
    output,
    operate(service, fundings(service, accounts, { orders, restNaira }), output, killsAt),
  ]);
  await proxy.idle();
  const report = reportSchema.parse(JSON.parse(printed));
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  const bought = service.simulator.state.purchases.filter(({ status }) => status === "success");
  const times = Map.groupBy(bought, ({ phoneNumber }) => phoneNumber);
  const { ledger } = await service.admin();
  const wallets = await Promise.all(accounts.map(({ accountId }) => readWallet(ledger, accountId)));
  /** By how often they were delivered. */
  const bundles = {
    never: orders - times.size,
    once: [...times.values()].filter(({ length }) => length === 1).length,
    more: [...times.values()].filter(({ length }) => length > 1).length,
  };
  console.log({ seed, seconds, ...report, ...bundles, ...Object.fromEntries(proxy.counts) });
  return {
    report,
    bundles,
    balances: wallets.map(({ balance_kobo }) => nairaFromKobo(balance_kobo)),
  };
};

test("200 bundles bought through a proxy that loses, repeats, mixes up and replaces messages and sends copies later, while the service is killed twice, are each delivered and charged exactly once", async () => {
  const { report, bundles, balances } = await sell(WITH_CLIENT, { orders: 200, restNaira: 1_000, killsAt: [60, 140] });
  expect(report).toMatchObject({ delivered: 200, errors: [] });
  expect(report.open, "Some orders were undecided for a while").toBeGreaterThan(0);
  expect(report.reordered, "Some orders were refused for the balance").toBeGreaterThan(0);
  expect(bundles).toEqual({ never: 0, once: 200, more: 0 });
  expect(balances).toEqual(new Array(ACCOUNTS).fill(1_000));
});

test("in the same world an app that believes each error code and each answer delivers some bundles twice and others never", async () => {
  const { report, bundles } = await sell(WITHOUT_CLIENT, { orders: 250, restNaira: 100_000, killsAt: [] });
  expect(report).toMatchObject({ delivered: 250, errors: [] });
  expect(bundles.never, "The answer of another order was taken for the own").toBeGreaterThan(0);
  expect(bundles.more, "A copy was placed after its order was given up").toBeGreaterThan(0);
});

type Account = { readonly accountId: string; readonly keys: readonly string[] };

const openAccounts = async (service: KillableService): Promise<readonly Account[]> => {
  const { accounts } = await service.admin();
  const opened: Account[] = [];
  while (opened.length < ACCOUNTS) {
    const { account_id: accountId } = await createAccount(accounts, {
      name: "shop",
      whitelist: ["127.0.0.1"],
      entitlements: ALL_ENTITLEMENTS,
    });
    const keys: string[] = [];
    while (keys.length < KEYS_PER_ACCOUNT) {
      keys.push((await createKey(accounts, accountId, { mode: "live", permissions: ["vtu", "read"] })).key);
    }
    opened.push({ accountId, keys });
  }
  return opened;
};

/**
 * Funds the wallets bit by bit with what the orders cost and the rest: again when one of them has been short for a
 * while, however fast the machine is. Each call funds what is due.
 */
const fundings = (
  service: KillableService,
  accounts: readonly Account[],
  { orders, restNaira }: Pick<Sale, "orders" | "restNaira">,
) => {
  const shareNaira = ((orders / ACCOUNTS) * PRICE_NAIRA) / FUNDINGS;
  let made = 0;
  let readAtMs = -WALLETS_READ_MS;
  let shortSinceMs: number | undefined;
  return async (): Promise<void> => {
    const nowMs = performance.now();
    if (made === FUNDINGS || nowMs < readAtMs + WALLETS_READ_MS) return;
    readAtMs = nowMs;
    const { ledger } = await service.admin();
    if (made > 0) {
      const wallets = await Promise.all(accounts.map(({ accountId }) => readWallet(ledger, accountId)));
      const isShort = wallets.some(({ balance_kobo }) => nairaFromKobo(balance_kobo) < PRICE_NAIRA);
      shortSinceMs = isShort ? (shortSinceMs ?? nowMs) : undefined;
      if (shortSinceMs === undefined || nowMs < shortSinceMs + SHORT_MS) return;
    }
    made += 1;
    shortSinceMs = undefined;
    const amountKobo = koboFromNaira(shareNaira + (made === FUNDINGS ? restNaira : 0));
    for (const { accountId } of accounts) {
      await fundWallet(ledger, { accountId, fundingId: `${accountId}-${made}`, amountKobo });
    }
  };
};

/** Funds the wallets, kills and starts the service, and resolves what the kills left open, until the app has ended. */
const operate = async (
  service: KillableService,
  fund: () => Promise<void>,
  appEnded: Promise<unknown>,
  killsAt: readonly number[],
): Promise<void> => {
  let hasEnded = false;
  void appEnded.finally(() => {
    hasEnded = true;
  });
  const kills = [...killsAt];
  while (!hasEnded) {
    await fund();
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
