import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { readTransactions } from "../../shared/ledger/find-transactions.ts";
import { listKeys } from "../../shared/ledger/query-index.ts";
import { transactionList } from "../../shared/ledger/schema.ts";
import { referenceOf } from "../../shared/ledger/transaction.ts";
import { untilNoneRuns } from "../../tools/local/functions.ts";
import { anOrder, BUY_DATA, ORDER_NAIRA, startTestService, type TestService } from "../builders/service/service.ts";
import { strictSettings } from "../strict/settings.ts";

/**
 * Goal: whatever AWS does to a write, no money is lost or taken twice, and no error is about a purchase that was
 * charged.
 * Method: a proxy on the wire between the real SDK and the emulator does all that AWS documents, as test/strict has it.
 * Crash points have every fault of a single purchase.
 */
let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterEach(() => {
  service.proxy.strict = undefined;
});
afterAll(() => service.stop());

const COUNT = 40;
const FUNDED_NAIRA = 30_000;
const seed = Date.now() % 1_000_000_000;

/** The model and the crash points have the others too. */
const names = ["perfect", "conflicts, tokens bound", "everything"] as const;

test.each(names)(
  `${COUNT} simultaneous purchases of one wallet are exact, and an error is only about one that was not charged (AWS: %s, seed ${seed})`,
  async (name) => {
    const caller = await service.newCaller({ naira: FUNDED_NAIRA });
    const keys = [caller.key, await caller.newKey()];
    const settings = strictSettings[name];
    const strict = settings && service.proxy.beStrict(settings, seed);
    // A platform's own error has no envelope: only status and headers are read.
    const send = async (index: number) => {
      const { status, headers } = await fetch(`${service.baseUrl}${BUY_DATA}`, {
        method: "POST",
        headers: { authorization: `Bearer ${keys[index % 2]}`, "content-type": "application/json" },
        body: JSON.stringify(anOrder({ reference: `strict-${index}` })),
      });
      return { status, code: headers.get("x-error-code"), replayed: headers.get("idempotent-replayed") };
    };
    const answers = await Promise.all(Array.from({ length: COUNT }, (_, index) => send(index)));
    // On a busy machine a purchase that has timed out may debit later.
    await untilNoneRuns("purchase");
    service.proxy.strict = undefined;
    expect(strict?.notSimulated ?? []).toEqual([]);

    const range = { from: "0000", to: "9999" };
    const owner = transactionList(caller.accountId, "live");
    const stored = await readTransactions(service.ledger, await listKeys(service.ledger, owner, range));
    const transactions = new Map(stored.map((transaction) => [transaction.caller_reference, transaction]));
    const charged = stored.filter(({ status }) => status !== "failed");
    const expectedNaira = FUNDED_NAIRA - charged.length * ORDER_NAIRA;
    expect(await caller.balance()).toBe(expectedNaira);
    for (const [index, { status, code }] of answers.entries()) {
      const transaction = transactions.get(`strict-${index}`);
      const isCharged = transaction !== undefined && transaction.status !== "failed";
      if (code !== null) expect(isCharged, `purchase ${index}: ${status} ${code}`).toBe(false);
      if (status === 200) expect(isCharged, `purchase ${index}: 200`).toBe(true);
      const reference = transaction && referenceOf(transaction);
      const orders = service.simulator.state.requests.filter((order) => order.reference === reference).length;
      if (transaction !== undefined) expect(orders, `orders of purchase ${index}`).toBeLessThanOrEqual(1);
      if (transaction?.status === "success") expect(orders, `orders of purchase ${index}`).toBe(1);
    }

    for (const [index, { status }] of answers.entries()) {
      if (status === 200) expect(await send(index)).toEqual({ status: 200, code: null, replayed: "true" });
    }
    expect(await caller.balance()).toBe(expectedNaira);
  },
);
