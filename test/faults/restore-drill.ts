import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { paginateScan } from "@aws-sdk/lib-dynamodb";
import { expect } from "vitest";
import * as z from "#zod";
import { requireAccount } from "../../shared/access/account-store.ts";
import { changeWhitelist, createAccount } from "../../shared/access/accounts.ts";
import { hashApiKey } from "../../shared/access/api-key.ts";
import { findKey, type KeyItem } from "../../shared/access/key-store.ts";
import { createKey, revokeKey, rotateKey } from "../../shared/access/keys.ts";
import type { Route } from "../../shared/contract/route.ts";
import { routes } from "../../shared/contract/routes.ts";
import { koboFromNaira } from "../../shared/contract/values/money.ts";
import { findByCallerReference } from "../../shared/ledger/find-transactions.ts";
import { adjustWallet, fundWallet } from "../../shared/ledger/ledger-entry.ts";
import { transactionPk, walletPk } from "../../shared/ledger/schema.ts";
import { referenceOf, type Transaction } from "../../shared/ledger/transaction.ts";
import { readWallet } from "../../shared/ledger/wallet.ts";
import { isoTime } from "../../shared/platform/time.ts";
import { GATE_CACHE_MS } from "../../shared/queued-orders/order-gate.ts";
import { queueLength, queueOf } from "../../shared/queued-orders/order-queue.ts";
import { resolveTransaction } from "../../shared/upstream-events/operator-resolution.ts";
import { adminFileOf } from "../../tools/local/service-file.ts";
import { copyTable } from "../builders/dynamodb/copy-table.ts";
import { freshTables } from "../builders/dynamodb/tables.ts";
import { ADMIN, type AdminRun, runCommand } from "../builders/service/admin.ts";
import { advance } from "./system/clock.ts";
import { type System, startSystem } from "./system/system.ts";
import { type AppEndpoint, openAppEndpoint, openTestAccount, type TestAccount } from "./test-account.ts";

type DrillOptions = {
  /** Additional purchases on either side of T. */
  readonly orders: number;
  /** For each killed carry-over, the share of items that are copied by then. One more run is not killed. */
  readonly kills: readonly number[];
  readonly random: () => number;
};

/** Phone numbers by what the upstream does with an order for them. */
const phoneNumbers = {
  delivered: "08031234567",
  failed: "08000000001",
  succeedsLater: "08000000002",
  failsLater: "08000000003",
  open: "08000000004",
  insufficientBalance: "08000000005",
  noAnswer: "08000000007",
};

/** One order, with its transaction before the loss. */
type Order = {
  readonly route: Route;
  readonly key: () => string;
  readonly accountId: string;
  readonly body: Readonly<Record<string, unknown>> & { readonly reference: string };
  transaction?: Transaction;
};

const answerTransaction = z.object({ transaction: z.object({ reference: z.string(), status: z.string() }) });
const isEnded = (transaction: Transaction | undefined): transaction is Transaction =>
  transaction !== undefined && transaction.status !== "processing";

/**
 * A drill of docs/recovery.md, "Restore the ledger": a caller buys, the tables are copied at a moment T, caller and
 * operator go on, the ledger is damaged, and the operator's commands of the procedure run; one that is killed is a
 * process. The emulator has no point-in-time recovery: the copies made at T stand for restored tables.
 */
export const openDrill = async ({ orders: count, kills, random }: DrillOptions) => {
  // A command that is killed has the machine's clock.
  const system = await startSystem({ startMs: Date.now() });
  await system.runSchedule("refresh-catalog");
  const receiver: AppEndpoint = await openAppEndpoint();
  const folder = mkdtempSync(join(tmpdir(), "drill-"));
  const serviceFile = join(folder, "service.json");
  const account: TestAccount = await openTestAccount(system, receiver, 500_000);
  const orders: Order[] = [];

  const writeAdminFile = (): void => writeFileSync(adminFileOf(serviceFile), JSON.stringify(system.adminDetails()));
  const deploy = async (changes: Parameters<System["deploy"]>[0]): Promise<void> => {
    await system.deploy(changes);
    writeAdminFile();
  };
  writeAdminFile();
  /** Runs one command of the procedure. */
  const admin = (...args: readonly string[]): Promise<AdminRun> =>
    // This world has no gateway.
    runCommand([...args, "--direct", "--json"], { serviceFile });
  const adminJson = async <Schema extends z.ZodMiniType>(
    schema: Schema,
    ...args: readonly string[]
  ): Promise<z.output<Schema>> => {
    const { code, stdout, stderr } = await admin(...args);
    expect({ args, code, stdout: code === 0 ? "" : stdout, stderr: code === 0 ? "" : stderr }).toEqual({
      args,
      code: 0,
      stdout: "",
      stderr: "",
    });
    return schema.parse(JSON.parse(stdout));
  };

  const send = async (order: Order): Promise<{ readonly status: number; readonly reference: string | undefined }> => {
    let answer = await system.call(order.route, order.key(), order.body);
    if (answer?.statusCode === 429) {
      advance(60_000);
      answer = await system.call(order.route, order.key(), order.body);
    }
    const data = answerTransaction.safeParse(answer?.body.data).data;
    return { status: answer?.statusCode ?? 0, reference: data?.transaction.reference };
  };
  const place = async (
    route: Route,
    body: Order["body"],
    owner: { readonly accountId: string; readonly key: () => string } = {
      accountId: account.accountId,
      key: () => account.keys.live,
    },
  ): Promise<Order> => {
    const order: Order = { route, body, ...owner };
    orders.push(order);
    await send(order);
    return order;
  };
  const buy = (reference: string, phoneNumber: string, owner?: Parameters<typeof place>[2]): Promise<Order> =>
    place(routes.buyAirtime, { network: "mtn", amount: 100, phone_number: phoneNumber, reference }, owner);
  const check = (reference: string, nin: string): Promise<Order> =>
    place(routes.verifyNin, { nin, is_consent: true, reference });

  const transactionOf = ({ accountId, body }: Order): Promise<Transaction | undefined> =>
    findByCallerReference(system.ledger, system.keyedHashes, { accountId, mode: "live" }, body.reference);
  const upstreamOrder = async (order: Order) => {
    const transaction = await transactionOf(order);
    const found =
      transaction && system.upstream.purchases.find(({ reference }) => reference === referenceOf(transaction));
    if (found === undefined) throw new Error(`The upstream has no order ${order.body.reference}`);
    return found;
  };
  /** The upstream settles an order and sends its event. */
  const settleOrder = async (order: Order, status: "success" | "failed"): Promise<void> => {
    const found = await upstreamOrder(order);
    system.upstream.settle(found, status);
    expect(await system.sendEvent(found, status)).toBe(true);
  };
  const many = async (prefix: string): Promise<void> => {
    const kinds = Object.values(phoneNumbers).filter((number) => number !== phoneNumbers.noAnswer);
    for (let index = 0; index < count; index += 1) {
      const number = kinds[Math.floor(random() * kinds.length)] ?? phoneNumbers.delivered;
      const order = await buy(`${prefix}-${index}`, number);
      if (number === phoneNumbers.succeedsLater && random() < 0.5) await settleOrder(order, "success");
      if (number === phoneNumbers.failsLater && random() < 0.5) await settleOrder(order, "failed");
    }
    await system.eventSources.deliver();
  };

  /** An order of an account of its own that the upstream's rate limit refuses. */
  const aQueuedOrder = async (reference: string, product: "airtime" | "data"): Promise<Order> => {
    const { accountId, keys } = await openTestAccount(system, receiver);
    const common = { phone_number: phoneNumbers.delivered, reference };
    const [route, body] =
      product === "airtime"
        ? [routes.buyAirtime, { ...common, network: "mtn", amount: 100 }]
        : [routes.buyData, { ...common, network_id: 1, plan_id: 101 }];
    const order: Order = { route, body, accountId, key: () => keys.live };
    refuseByLimit(product);
    expect((await send(order)).status).toBe(200);
    await assertWaiting(order, 1);
    letLimitRecover();
    return order;
  };
  const refuseByLimit = (product: "airtime" | "data"): void =>
    system.upstream.faults.add({ kind: "rate_limited", times: 1, retry_after_s: 60, path: `/vtu/${product}/` });
  const letLimitRecover = (): void => advance(75_000);
  const assertWaiting = async (order: Order, queued: 0 | 1): Promise<void> => {
    const wallet = await readWallet(system.ledger, order.accountId);
    const isWaiting = (await transactionOf(order))?.queued !== undefined;
    const expected = { order: order.body.reference, isWaiting: queued === 1, counted: queued };
    expect({ order: order.body.reference, isWaiting, counted: queueLength(queueOf(wallet)) }).toEqual(expected);
  };
  const deliveriesOf = async (order: Order): Promise<number> => {
    const transaction = await transactionOf(order);
    const own = transaction && referenceOf(transaction);
    return system.upstream.purchases.filter(({ reference }) => reference === own).length;
  };

  // Before T.
  const main = account.accountId;
  const leaked = await createKey(system.accounts, main, { mode: "live" });
  const rotated = await createKey(system.accounts, main, { mode: "live" });
  await buy("before-delivered", phoneNumbers.delivered);
  const succeedsLater = await buy("before-succeeds-later", phoneNumbers.succeedsLater);
  const failsLater = await buy("before-fails-later", phoneNumbers.failsLater);
  const resolved = await buy("before-resolved", phoneNumbers.open);
  await buy("before-open", phoneNumbers.open);
  await buy("before-no-answer", phoneNumbers.noAnswer);
  await check("before-found", "12345678900");
  await many("before");
  await system.eventSources.deliver();

  const waitingBefore = [await aQueuedOrder("sent-after-t", "airtime"), await aQueuedOrder("refused-again", "data")];

  // T.
  const ledgerAtT = await copyTable(system.db, "ledger", system.ledger.table);
  const accessAtT = await copyTable(system.db, "access", system.accounts.accessTable);

  // Between T and the loss.
  await buy("after-delivered", phoneNumbers.delivered);
  await buy("after-refused", phoneNumbers.insufficientBalance);
  const settledLate = await buy("after-settled-late", phoneNumbers.succeedsLater);
  await check("after-found", "12345678900");
  await check("after-no-record", "00000000001");
  await many("after");
  refuseByLimit("data");
  await system.runSchedule("send-queued-orders");
  for (const [order, queued] of [
    [waitingBefore[0], 0],
    [waitingBefore[1], 1],
  ] as const) {
    if (order !== undefined) await assertWaiting(order, queued);
  }
  letLimitRecover();
  advance(90_000);
  await settleOrder(succeedsLater, "success");
  await settleOrder(failsLater, "failed");
  await system.eventSources.deliver();
  advance(60_000);
  const open = await transactionOf(resolved);
  if (open === undefined) throw new Error("The order to resolve was not made");
  await resolveTransaction(system.ledger, open, "failed", { by: "ada", why: "the upstream has no such order" });
  await fundWallet(system.ledger, { accountId: main, fundingId: "bank-after", amountKobo: koboFromNaira(700) });
  await adjustWallet(system.ledger, { accountId: main, adjustmentId: "fee", amount_kobo: -5_000, why: "a fee" });
  await revokeKey(system.accounts, main, leaked.keyId);
  const fresh = await rotateKey(system.accounts, main, rotated.keyId, 24 * 3_600_000);
  await changeWhitelist(system.accounts, main, (before) => [...before, "198.51.100.0/24"]);
  const { account_id: second } = await createAccount(system.accounts, { name: "second", whitelist: ["203.0.113.7"] });
  await fundWallet(system.ledger, { accountId: second, fundingId: "bank-second", amountKobo: koboFromNaira(1_000) });
  const secondKey = await createKey(system.accounts, second, { mode: "live" });
  await buy("second-delivered", phoneNumbers.delivered, { accountId: second, key: () => secondKey.key });
  await system.eventSources.deliver();
  // The webhook of this one was not enqueued when the ledger was lost.
  const unsent = await buy("after-unsent", phoneNumbers.delivered);

  const waitingAfter = await aQueuedOrder("began-after-t", "airtime");
  const [sentAfter, refusedAgain] = waitingBefore;
  if (sentAfter === undefined || refusedAgain === undefined) throw new Error("No order waited before T");
  const stillWaiting = [refusedAgain, waitingAfter];

  for (const order of orders) {
    const transaction = await transactionOf(order);
    if (transaction !== undefined) order.transaction = transaction;
  }
  const expected = { [main]: 0, [second]: 0 };
  for (const accountId of [main, second]) {
    expected[accountId] = (await readWallet(system.ledger, accountId)).balance_kobo;
  }
  const keys = (await requireAccount(system.accounts, main)).keys;
  const itemOf = (key: string): Promise<KeyItem | undefined> =>
    findKey(system.db, system.accounts.accessTable, hashApiKey(key));

  const carryOverReport = z.object({
    ok: z.boolean(),
    items: z.record(z.string(), z.record(z.string(), z.int())),
    discrepancies: z.array(z.unknown()),
    wallets: z.array(z.unknown()),
  });
  const written = (report: z.output<typeof carryOverReport>, names = Object.keys(report.items)): number =>
    names.reduce((sum, name) => sum + (report.items[name]?.copied ?? 0) + (report.items[name]?.updated ?? 0), 0);
  const reconciled = z.object({ findings: z.array(z.object({ key_id: z.optional(z.string()), found: z.string() })) });

  const itemsIn = async (TableName: string): Promise<number> => {
    let items = 0;
    for await (const page of paginateScan({ client: system.db }, { TableName, Select: "COUNT" }))
      items += page.Count ?? 0;
    return items;
  };

  /** Starts a command and kills it once the restored table has this many items. */
  const runAndKill = async (items: number, ...args: readonly string[]): Promise<void> => {
    const child = spawn(process.execPath, [ADMIN, ...args, "--json"], {
      env: { ...process.env, SERVICE_FILE: serviceFile },
      stdio: "ignore",
    });
    const ended = once(child, "close");
    try {
      while (child.exitCode === null && (await itemsIn(ledgerAtT)) < items) await wait(1);
    } finally {
      child.kill("SIGKILL");
      await ended;
    }
    expect({ items, signal: child.signalCode }).toEqual({ items, signal: "SIGKILL" });
  };

  /** New orders are refused, and replays are answered as before. */
  const examineWhileOff = async (): Promise<void> => {
    const sold = orders.find(({ body }) => body.reference === "after-delivered");
    if (sold?.transaction === undefined) throw new Error("The order to replay was not made");
    expect(await send(sold)).toEqual({ status: 200, reference: referenceOf(sold.transaction) });
    const other = { ...sold, body: { ...sold.body, reference: "while-off" } };
    expect((await send(other)).status).toBe(503);
  };

  /** Switches purchases by the command, and lets the seconds pass until every function follows. */
  const switchPurchases = async (purchases: "on" | "off", ...why: readonly string[]): Promise<void> => {
    const done = z.object({ purchases: z.literal(purchases), changed: z.literal(true) });
    await adminJson(done, "purchases", purchases, ...why);
    advance(GATE_CACHE_MS);
  };

  const restoreLedger = async (): Promise<void> => {
    const lost = system.ledger.table;
    await switchPurchases("off", "--why", "restore drill");
    await examineWhileOff();
    await deploy({ WORKERS: "off" });
    // An event of the upstream waits in its queue in the meantime.
    await settleOrder(settledLate, "success");
    // The damage: a balance is wrong, and a purchase from before T is gone.
    await system.db.update({
      TableName: lost,
      Key: { pk: walletPk(main) },
      UpdateExpression: "SET balance_kobo = :wrong",
      ExpressionAttributeValues: { ":wrong": 1 },
    });
    const gone = orders[0]?.transaction?.pk;
    await system.db.delete({ TableName: lost, Key: { pk: gone } });

    await examineWhileOff();
    const why = ["--why", "restore drill"];
    const carryOver = ["ledger", "carry-over", "--from", lost, "--to", ledgerAtT, ...why];
    const planned = await adminJson(carryOverReport, ...carryOver, "--dry-run");
    const before = await itemsIn(ledgerAtT);
    const copied = Object.values(planned.items).reduce((sum, each) => sum + (each.copied ?? 0), 0);
    for (const part of kills.toSorted((one, other) => one - other)) {
      await runAndKill(before + Math.floor(part * copied), ...carryOver);
    }
    const carried = await adminJson(carryOverReport, ...carryOver);
    expect(planned.discrepancies).toEqual([]);
    expect(written(planned, ["transactions"])).toBeGreaterThan(0);
    if (kills.length === 0) expect(written(carried)).toBe(written(planned));
    else expect(written(carried)).toBeLessThan(written(planned));

    await deploy({ LEDGER_TABLE: ledgerAtT });
    await examineWhileOff();
    await assertWaiting(sentAfter, 0);
    for (const order of stillWaiting) await assertWaiting(order, 1);
    const again = await adminJson(carryOverReport, "ledger", "carry-over", "--from", lost, ...why);
    expect([written(again), again.wallets, again.discrepancies]).toEqual([0, [], []]);
    expect((await adminJson(reconciled, "keys", "reconcile")).findings).toEqual([]);
    await adminJson(z.object({ ok: z.literal(true) }), "wallet", "verify", "--all");
    await deploy({ WORKERS: "on" });
    await examineWhileOff();
    await switchPurchases("on");
    await system.runSchedule("send-queued-orders");
    for (const order of [sentAfter, ...stillWaiting]) {
      await assertWaiting(order, 0);
      const { reference } = order.body;
      const { status } = (await transactionOf(order)) ?? {};
      const ended = { reference, status: "success", deliveries: 1 };
      expect({ reference, status, deliveries: await deliveriesOf(order) }).toEqual(ended);
    }
    await system.eventSources.deliver();
    await enqueueMissingWebhooks();
  };

  /** Enqueues missing webhooks. The system's clock is ahead of the command's. */
  const enqueueMissingWebhooks = async (): Promise<void> => {
    const [from, to] = [isoTime(Date.now() - 86_400_000), isoTime(Date.now())];
    const announced = z.object({ announced: z.int().check(z.positive()) });
    await adminJson(announced, "announce", "--from", from, "--to", to, "--name", "after-restore");
    await system.eventSources.deliver();
  };

  const restoreAccess = async (): Promise<void> => {
    await switchPurchases("off", "--why", "restore drill");
    await deploy({ ACCESS_TABLE: accessAtT });
    expect((await itemOf(leaked.key))?.status).toBe("active");
    const { findings } = await adminJson(reconciled, "keys", "reconcile");
    expect(findings).toEqual(
      expect.arrayContaining([
        { key_id: leaked.keyId, found: "key_revoked_in_one" },
        { key_id: fresh.keyId, found: "key_item_missing" },
        { key_id: secondKey.keyId, found: "key_item_missing" },
      ]),
    );
    expect((await adminJson(reconciled, "keys", "reconcile")).findings).toEqual([]);
    await switchPurchases("on");
  };

  const stored = z.object({ reference: z.string() });
  /** "Recover in another region": a new stage adopts the copies of T, and there is no other ledger. */
  const recoverElsewhere = async (): Promise<void> => {
    // The lost region settles nothing any more, but the upstream does.
    system.upstream.settle(await upstreamOrder(settledLate), "success");
    const { cacheTable } = await freshTables(system.db);
    await deploy({
      LEDGER_TABLE: ledgerAtT,
      ACCESS_TABLE: accessAtT,
      CACHE_TABLE: cacheTable,
      PURCHASES_INITIALLY: "off",
      WORKERS: "off",
    });
    const sent = system.upstream.requests.length;
    const purchases = z.object({ purchases: z.literal("off"), since: z.null() });
    await adminJson(purchases, "purchases", "show");
    for (const order of orders.filter(({ accountId }) => accountId === main)) {
      const isKnown = (await transactionOf(order)) !== undefined;
      const { status } = await send(order);
      if (!isKnown) expect({ what: order.body.reference, status }).toEqual({ what: order.body.reference, status: 503 });
    }
    expect(system.upstream.requests.length).toBe(sent);

    const why = ["--why", "region lost"];
    // A backup may have a debit's transaction, and its wallet as it was before.
    await system.db.update({
      TableName: ledgerAtT,
      Key: { pk: walletPk(main) },
      UpdateExpression: "ADD balance_kobo :amount, version :line",
      ExpressionAttributeValues: { ":amount": koboFromNaira(100), ":line": -1 },
    });
    const copy = await copyTable(system.db, "ledger", ledgerAtT);
    const compare = ["ledger", "carry-over", "--from", copy];
    const computed = await adminJson(carryOverReport, ...compare, ...why);
    expect([written(computed), computed.discrepancies, computed.wallets.length]).toEqual([0, [], 1]);
    // Balances and counts of lines are right, so that a month can be closed.
    expect((await adminJson(carryOverReport, ...compare, "--dry-run")).wallets).toEqual([]);
    await adminJson(z.unknown(), "wallet", "fund", main, "700", "--id", "bank-after");
    const open = z.object({ transactions: z.array(stored) });
    const { transactions } = await adminJson(open, "transactions", "list", "--open");
    const queued = z.object({ orders: z.array(stored) });
    const { orders: waited } = await adminJson(queued, "transactions", "list", "--waiting");
    expect(waited).toHaveLength(waitingBefore.length);
    const resolved: string[] = [];
    for (const { reference } of [...transactions, ...waited]) {
      const isWaiting = waited.some((order) => order.reference === reference);
      const known = system.upstream.purchases.find((order) => order.reference === reference)?.status;
      const status = isWaiting ? (known ?? "failed") : known;
      if (status === undefined || status === "processing") continue;
      // Its request is long over; the command would wait for that by its own clock.
      await system.db.update({
        TableName: ledgerAtT,
        Key: { pk: transactionPk(reference.split("_")[1] ?? "") },
        UpdateExpression: "SET created_at = :then, listed_at = :then",
        ExpressionAttributeValues: { ":then": isoTime(Date.now() - 60_000) },
      });
      await adminJson(stored, "transactions", "resolve", reference, status, ...why);
      resolved.push(status);
    }
    expect(new Set(resolved)).toEqual(new Set(["success", "failed"]));
    for (const order of waitingBefore) await assertWaiting(order, 0);
    let charged = 0;
    for (const order of orders.filter(({ accountId }) => accountId === main)) {
      if ((await transactionOf(order)) !== undefined) continue;
      const reference = order.transaction === undefined ? undefined : referenceOf(order.transaction);
      const delivered = system.upstream.purchases.find((each) => each.reference === reference);
      if (delivered?.status !== "success") continue;
      const amount = `-${delivered.amountKobo / 100}`;
      await adminJson(z.unknown(), "wallet", "adjust", main, amount, "--id", `upstream-${reference}`, ...why);
      charged += 1;
    }
    expect(charged).toBeGreaterThan(2);
    await adminJson(reconciled, "keys", "reconcile");
    await adminJson(z.unknown(), "keys", "revoke", leaked.keyId);
    await adminJson(z.object({ ok: z.literal(true) }), "wallet", "verify", "--all");
    // What the service itself wrote off after T is on no record elsewhere: a fee, and a refund by the operator.
    const { balance_kobo } = await readWallet(system.ledger, main);
    expect(balance_kobo).toBe((expected[main] ?? 0) + 5_000 - 10_000);

    await deploy({ WORKERS: "on" });
    await system.runSchedule("refresh-catalog");
    await switchPurchases("on");
    await buy("after-recovery", phoneNumbers.delivered);
    const [bought] = orders.splice(-1);
    expect((bought && (await transactionOf(bought)))?.status).toBe("success");
    const again = system.upstream.requests.length;
    for (const order of orders.filter(({ accountId }) => accountId === main)) {
      if ((await transactionOf(order)) === undefined) continue;
      await send(order);
    }
    expect(system.upstream.requests.length).toBe(again);
    expect((await system.call(routes.getWallet, leaked.key, undefined))?.statusCode).toBe(401);
    await enqueueMissingWebhooks();
  };

  /** Asserts what must hold after a restore. */
  const examine = async (): Promise<void> => {
    const sent = system.upstream.requests.length;
    for (const order of orders) {
      const before = order.transaction;
      const answer = await send(order);
      const transaction = await transactionOf(order);
      const what = order.body.reference;
      if (before === undefined) throw new Error(`${what} was not made before the loss`);
      expect({ what, write_token: transaction?.write_token }).toEqual({ what, write_token: before.write_token });
      if (order !== settledLate) {
        expect({ what, status: transaction?.status }).toEqual({ what, status: before.status });
      }
      if (transaction?.status !== "failed" && order.route !== routes.verifyNin) {
        expect({ what, ...answer }).toMatchObject({ what, reference: referenceOf(before) });
      }
      const lookup = routes.getTransaction;
      const path = lookup.path.replace(/\{\w+\}/, what);
      const found = await system.call(lookup, order.key(), undefined, path);
      expect({ what, status: found?.statusCode }).toEqual({ what, status: 200 });
    }
    // No order was sent a second time.
    expect(system.upstream.requests.length).toBe(sent);
    const references = system.upstream.requests.map(({ reference }) => reference);
    expect(new Set(references).size).toBe(references.length);
    expect((await transactionOf(settledLate))?.status).toBe("success");
    for (const accountId of [main, second]) {
      expect((await readWallet(system.ledger, accountId)).balance_kobo).toBe(expected[accountId]);
    }
    await adminJson(z.object({ ok: z.literal(true) }), "wallet", "verify", "--all");
    const repeated = z.object({ repeated: z.boolean() });
    expect(await adminJson(repeated, "wallet", "fund", main, "700", "--id", "bank-after")).toEqual({ repeated: true });

    const isAdmitted = async (key: string): Promise<boolean> =>
      (await system.call(routes.getWallet, key, undefined))?.statusCode === 200;
    expect([await isAdmitted(leaked.key), await isAdmitted(fresh.key), await isAdmitted(rotated.key)]).toEqual([
      false,
      true,
      true,
    ]);
    expect(await isAdmitted(secondKey.key)).toBe(true);
    expect((await itemOf(rotated.key))?.expires_at).toBe(fresh.expiresAt);
    const account = await requireAccount(system.accounts, main);
    expect(account.keys.map(({ key_id, status, expires_at }) => [key_id, status, expires_at])).toEqual(
      keys.map(({ key_id, status, expires_at }) => [key_id, status, expires_at]),
    );
    for (const { transaction } of orders.filter(
      ({ transaction, accountId }) => isEnded(transaction) && accountId === main,
    )) {
      const webhooks = receiver.received.filter(({ body }) => transaction && body.includes(referenceOf(transaction)));
      expect({ webhooks: webhooks.length > 0, ids: new Set(webhooks.map(({ headers }) => headers.id)).size }).toEqual({
        webhooks: true,
        ids: 1,
      });
      expect(new Set(webhooks.map(({ body }) => body)).size).toBe(1);
    }
    expect(isEnded(unsent.transaction)).toBe(true);
    expect(await system.eventSources.deadLetters()).toEqual([]);
  };

  /** Adopts the copy of T as it is, and sends every request again. Returns how many orders went upstream a second time. */
  const ordersTwiceWithoutCarryOver = async (): Promise<number> => {
    await deploy({ LEDGER_TABLE: ledgerAtT });
    for (const order of orders) await send(order);
    const references = system.upstream.requests.map(({ reference }) => reference);
    return references.length - new Set(references).size;
  };

  return {
    ordersTwiceWithoutCarryOver,
    restoreLedger,
    restoreAccess,
    recoverElsewhere,
    /** The addresses that the account may call from. */
    whitelist: async () => (await requireAccount(system.accounts, main)).whitelist,
    examine,
    close: async () => {
      await system.stop();
      await receiver.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
export type Drill = Awaited<ReturnType<typeof openDrill>>;
