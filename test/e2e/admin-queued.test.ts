import { afterAll, beforeAll, expect, test } from "vitest";
import * as z from "#zod";
import { referenceOf } from "../../shared/ledger/transaction.ts";
import { listQueuedOrders } from "../../shared/queued-orders/queue-store.ts";
import { ageTransaction, type OperatedService, startOperatedService } from "../builders/admin.ts";
import { eventually } from "../builders/eventually.ts";
import { claimAsSender } from "../builders/queued-order.ts";

/**
 * Goal: an operator sees the orders that wait for the upstream's rate limit, what becomes of them, and can refund one.
 */
let service: OperatedService;
let app: Awaited<ReturnType<OperatedService["newApp"]>>;
beforeAll(async () => {
  service = await startOperatedService();
  app = await service.newApp();
});
afterAll(() => service.stop());

const admin = async (...args: readonly string[]): Promise<string> => (await service.admin(args)).stdout;
const waitingList = z.object({
  number: z.int(),
  amount: z.number(),
  oldest_s: z.nullable(z.int()),
  sending_s: z.nullable(z.int()),
  accounts: z.array(z.object({ account_id: z.string(), number: z.int(), counted: z.int(), amount: z.number() })),
  orders: z.array(z.object({ reference: z.string(), account_id: z.string(), amount: z.number(), age_s: z.int() })),
});
const listWaiting = async (...args: readonly string[]) =>
  waitingList.parse(await service.adminJson(["transactions", "list", "--waiting", ...args]));
const checks = z.object({
  checks: z.array(z.object({ check: z.string(), state: z.string(), found: z.string() })),
});
const doctorsQueuedOrders = async () => {
  const { stdout } = await service.admin(["doctor", "--json"]);
  return checks.parse(JSON.parse(stdout)).checks.find(({ check }) => check === "queued orders");
};

test("transactions list --waiting says that none waits before the upstream's limit refuses an order", async () => {
  expect(await listWaiting()).toEqual({ number: 0, amount: 0, oldest_s: null, sending_s: 0, accounts: [], orders: [] });
  expect(await doctorsQueuedOrders()).toMatchObject({ state: "ok", found: "none" });
});

/** A test that starts the command line a dozen times. */
const timeout = 60_000;

test("orders that wait are listed by account, shown with their latest refund, and doctor reports them once they wait for long", {
  timeout,
}, async () => {
  await service.refuseByLimit();
  const first = await service.buy(app.key, "08031234567", "wait-1");
  const other = await service.newApp("other");
  const second = await service.buy(other.key, "08031234567", "wait-2");
  expect([first.status, second.status]).toEqual([200, 200]);

  const all = await eventually(async () => {
    const listed = await listWaiting();
    expect(listed.number).toBe(2);
    return listed;
  });
  expect(all).toMatchObject({ amount: 1_000, sending_s: 2 });
  expect(all.accounts).toEqual(
    [app, other].map(({ account }) => ({ account_id: account, number: 1, counted: 1, amount: 500 })),
  );
  expect(all.orders.map(({ reference }) => reference)).toEqual([first.reference, second.reference]);
  expect((await listWaiting("--account", other.account)).orders).toMatchObject([{ reference: second.reference }]);
  expect(await admin("transactions", "list", "--waiting")).toMatch(new RegExp(`${first.reference} +${app.account}`));
  expect(await admin("transactions", "list", "--open")).not.toContain(first.reference);

  const shown = await admin("transactions", "show", first.reference);
  expect(shown).toMatch(/wait +waits since .*; refunded by the next run after .*, unless it is sent before/);
  expect(shown).toMatch(/Waits since/);
  expect(await doctorsQueuedOrders()).toMatchObject({ state: "ok", found: expect.stringContaining("2 wait") });
  await ageTransaction(service, first.reference, 8 * 60_000);
  expect(await doctorsQueuedOrders()).toMatchObject({ state: "look", found: expect.stringContaining("for 8 min") });

  await service.admin(["purchases", "off", "--why", "test"]);
  expect(await admin("transactions", "show", first.reference)).toContain("it is neither sent nor refunded");
  expect((await listWaiting()).sending_s).toBeNull();
  expect(await doctorsQueuedOrders()).toMatchObject({
    state: "look",
    found: expect.stringContaining("purchases are off"),
  });
  await service.admin(["purchases", "on"]);
});

test("a queued order is not resolved as success, and one that is resolved as failed is refunded and waits no more", {
  timeout,
}, async () => {
  const [order] = (await listWaiting("--account", app.account)).orders;
  if (order === undefined) throw new Error("No order waits");
  const resolve = (status: string) =>
    service.admin(["transactions", "resolve", order.reference, status, "--why", "the customer asks", "--json"]);
  expect(await resolve("success")).toMatchObject({ code: 2, stdout: expect.stringContaining("was not sent") });
  const failed = await resolve("failed");
  expect([failed.code, JSON.parse(failed.stdout)]).toEqual([
    0,
    expect.objectContaining({ status: "failed", refunded: 500 }),
  ]);
  expect(await service.adminJson(["wallet", "verify", app.account])).toMatchObject({ balance: 5_000 });
  expect(await listWaiting("--account", app.account)).toMatchObject({ number: 0, accounts: [] });
});

test("an order that was sent after a wait is shown with the time that it waited", async () => {
  const [listed] = (await listWaiting()).orders;
  const [order] = await listQueuedOrders(service.ledger, listed?.account_id ?? "");
  if (order === undefined) throw new Error("No order waits");
  expect((await claimAsSender(service.ledger, order)).kind).toBe("claimed");
  const shown = await admin("transactions", "show", referenceOf(order));
  expect(shown).toMatch(/wait +waited \d+ \w+, until 20/);
  expect(shown).toMatch(/Sent +after a wait of \d+ \w+/);
  expect(shown).toMatch(/Until when to wait +20[^ ]+Z?\b.* Most orders .* asked for it within a minute of 20/);
});
