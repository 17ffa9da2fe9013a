import { requireAccount } from "../../shared/access/account-store.ts";
import { createKey, revokeKey, rotateKey } from "../../shared/access/accounts.ts";
import { routes } from "../../shared/contract/routes.ts";
import { adjustWallet, fundWallet } from "../../shared/ledger/ledger-entry.ts";
import { koboFromNaira } from "../../shared/platform/money.ts";
import { discardEvent, matchEvent, resolveTransaction } from "../../shared/upstream-events/operator-resolution.ts";
import { listEvents } from "../../shared/upstream-events/stored-event.ts";
import { rotateWebhookSecret } from "../../shared/webhooks/endpoint.ts";
import { anOrder } from "../builders/service.ts";
import { transactionsOf } from "./invariants.ts";
import { advance } from "./system/clock.ts";
import type { Concurrency } from "./system/event-sources.ts";
import type { TestAccount } from "./test-account.ts";

/** A piece of life whose effects are counted, and then withFault one by one. */
export type Scenario = {
  /** Made without faults, and not counted. */
  readonly prepare?: (account: TestAccount) => Promise<void>;
  readonly act: (account: TestAccount) => Promise<void>;
  /** How its transactions end where nothing is withFault: that it does what its name says. */
  readonly ends: readonly string[];
};

/** Numbers by which the upstream knows what to do. Source: INTERFACE "Sandbox"; the simulator follows it. */
const numbers = {
  failed: "08000000001",
  endsWell: "08000000002",
  endsBadly: "08000000003",
  poorUpstream: "08000000005",
  upstreamDown: "08000000006",
  noAnswer: "08000000007",
};

const order = (reference: string, phoneNumber = "08031234567") => ({
  ...anOrder({ phone_number: phoneNumber }),
  reference,
});
const check = (reference: string, nin = "12345678900") => ({ nin, is_consent: true, reference });
const byOperator = { by: "operator", why: "the upstream's support said so" };

const buy =
  (phone?: string): Scenario["act"] =>
  async (account) => {
    await account.ask(routes.buyData, order("order-1", phone));
    await account.system.eventSources.deliver();
  };

const verify =
  (nin?: string): Scenario["act"] =>
  async (account) => {
    await account.ask(routes.verifyNin, check("check-1", nin));
    await account.system.eventSources.deliver();
  };

const upstreamEnds = (account: TestAccount, status: "success" | "failed"): void => {
  const newest = account.system.upstream.purchases.at(-1);
  if (newest !== undefined) account.system.upstream.settle(newest, status);
};

/** The upstream reports how the account's newest order ended, until it is heard. */
const report = async (account: TestAccount, status: "success" | "failed"): Promise<void> => {
  upstreamEnds(account, status);
  const newest = account.system.upstream.purchases.at(-1);
  if (newest !== undefined && !(await account.system.sendEvent(newest, status)))
    await account.system.sendEvent(newest, status);
};

const onlyTransaction = async (account: TestAccount) => {
  const [transaction] = await transactionsOf(account);
  if (transaction === undefined) throw new Error("The account has no transaction");
  return transaction;
};

/** Leaves a purchase open, as after an upstream that did not answer, and that has ended it meanwhile. */
const leaveOpen =
  (ended: "success" | "failed") =>
  async (account: TestAccount): Promise<void> => {
    await account.ask(routes.buyData, order("order-1", numbers.noAnswer));
    upstreamEnds(account, ended);
    // By now its request has certainly ended.
    advance(60_000);
  };

const resolve =
  (status: "success" | "failed"): Scenario["act"] =>
  async (account) => {
    const transaction = await onlyTransaction(account);
    await account.command(() => resolveTransaction(account.system.ledger, transaction, status, byOperator));
    await account.system.eventSources.deliver();
  };

const EVENT_PATIENCE_MS = 190_000;
/** An event whose transaction the index does not show yet is looked at again after 5 s. */
const LOOK_AGAIN_MS = 6_000;

/** Delivers events, also those whose transaction the index shows a little later. */
const applyEvents = async ({ system }: TestAccount, manner?: Concurrency): Promise<void> => {
  await system.eventSources.deliver(manner);
  advance(LOOK_AGAIN_MS);
  await system.eventSources.deliver(manner);
};

/** An event of an unknown reference that says `failed`: only an operator may believe it. */
const leaveUnmatched = async (account: TestAccount): Promise<void> => {
  await leaveOpen("failed")(account);
  await report(account, "failed");
  await account.system.eventSources.deliver();
  advance(EVENT_PATIENCE_MS);
  await account.system.eventSources.deliver();
};

const newestEvent = async ({ system }: TestAccount) => {
  const event = (await listEvents(system.ledger, "0000")).at(-1);
  if (event === undefined) throw new Error("No event was left to the operator");
  return event;
};

const firstKeyId = async ({ system, accountId }: TestAccount): Promise<string> =>
  (await requireAccount(system.accounts, accountId)).keys[0]?.key_id ?? "";

/** The app goes on with its first key, also where a rotation has ended the newest one early. */
const newestKeyId = async ({ system, accountId }: TestAccount): Promise<string> =>
  (await requireAccount(system.accounts, accountId)).keys.at(-1)?.key_id ?? "";

export const scenarios: Readonly<Record<string, Scenario>> = {
  "a purchase that is delivered": { act: buy(), ends: ["success"] },
  "a purchase that the upstream could not deliver": { act: buy(numbers.failed), ends: ["processing"] },
  "a purchase for which our money at the upstream does not reach": { act: buy(numbers.poorUpstream), ends: ["failed"] },
  "a purchase that the upstream refuses": {
    prepare: async (account) => {
      const body = { status: false, message: "Invalid", errors: { phone_number: ["Is not a number"] } };
      account.system.upstream.faults.add({ kind: "status", path: "/vtu", status: 422, body, times: 1 });
    },
    act: buy(),
    ends: ["failed"],
  },
  "a purchase whose upstream is down": { act: buy(numbers.upstreamDown), ends: ["processing"] },
  "a purchase that is beyond the balance": {
    prepare: async (account) => {
      const accountId = account.accountId;
      const empty = { accountId, adjustmentId: "empty", amount_kobo: -koboFromNaira(9_900), why: "for the test" };
      await adjustWallet(account.system.ledger, empty);
    },
    act: buy(),
    ends: [],
  },
  "a top-up": {
    act: async (account) => {
      const body = { network: "mtn", amount: 100, phone_number: "08031234567", reference: "top-up-1" };
      await account.ask(routes.buyAirtime, body);
      await account.system.eventSources.deliver();
    },
    ends: ["success"],
  },
  "a purchase that ends well by an event": {
    act: async (account) => {
      await account.ask(routes.buyData, order("order-1", numbers.endsWell));
      await report(account, "success");
      await applyEvents(account);
    },
    ends: ["success"],
  },
  "a purchase that ends badly by an event": {
    act: async (account) => {
      await account.ask(routes.buyData, order("order-1", numbers.endsBadly));
      await report(account, "failed");
      await applyEvents(account);
    },
    ends: ["failed"],
  },
  "a purchase without an answer, whose event is matched": {
    act: async (account) => {
      await account.ask(routes.buyData, order("order-1", numbers.noAnswer));
      await report(account, "success");
      await account.system.eventSources.deliver();
      advance(EVENT_PATIENCE_MS);
      await account.system.eventSources.deliver();
    },
    ends: ["success"],
  },
  "an event that comes three times, and then its contrary": {
    prepare: async (account) => {
      await account.ask(routes.buyData, order("order-1", numbers.endsWell));
    },
    act: async (account) => {
      for (let copy = 0; copy < 3; copy += 1) await report(account, "success");
      await applyEvents(account);
      // The contrary speaks against an end that we know of: whichever came first would be believed.
      if ((await onlyTransaction(account)).status === "success") await report(account, "failed");
      await applyEvents(account);
    },
    ends: ["success"],
  },
  "two copies of an event that says failed, at the same time": {
    prepare: async (account) => {
      await account.ask(routes.buyData, order("order-1", numbers.endsBadly));
    },
    act: async (account) => {
      for (const status of ["failed", "failed"] as const) await report(account, status);
      await applyEvents(account, "concurrent");
    },
    ends: ["failed"],
  },
  "a sandbox purchase that ends by an event": {
    act: async (account) => {
      await account.ask(routes.buyData, order("order-1", numbers.endsWell), "test");
      advance(6_000);
      await account.system.eventSources.deliver();
    },
    ends: ["success"],
  },
  "a check that finds a record": { act: verify(), ends: ["success"] },
  "a check that finds none": { act: verify("00000000001"), ends: ["failed"] },
  "a check without an answer": { act: verify("00000000006"), ends: ["failed"] },
  "an abandoned check": {
    prepare: async (account) => {
      // Its process ended when it was about to ask the upstream.
      account.system.plan = ({ place }) => (place === "upstream" ? "dies_before" : undefined);
      await account.ask(routes.verifyNin, check("check-1"));
      account.system.plan = () => undefined;
      advance(6 * 60_000);
    },
    act: async (account) => {
      await account.system.runSchedule("reconcile-ledger");
      await account.system.eventSources.deliver();
    },
    ends: ["failed"],
  },
  "an operator who resolves as success": { prepare: leaveOpen("success"), act: resolve("success"), ends: ["success"] },
  "an operator who resolves as failed": { prepare: leaveOpen("failed"), act: resolve("failed"), ends: ["failed"] },
  "an operator who matches an event": {
    prepare: leaveUnmatched,
    act: async (account) => {
      const [transaction, event] = [await onlyTransaction(account), await newestEvent(account)];
      await account.command(() => matchEvent(account.system.ledger, event, transaction, byOperator));
      await account.system.eventSources.deliver();
    },
    ends: ["failed"],
  },
  "an operator who discards an event": {
    prepare: leaveUnmatched,
    act: async (account) => {
      const event = await newestEvent(account);
      await account.command(() => discardEvent(account.system.ledger, event, byOperator));
    },
    ends: ["processing"],
  },
  "a delivery to a receiver that fails at first": {
    prepare: async (account) => {
      account.receiver.failNext(2);
    },
    act: async (account) => {
      await buy()(account);
      for (let round = 0; round < 3; round += 1) {
        advance(10 * 60_000);
        await account.system.eventSources.deliver();
      }
    },
    ends: ["success"],
  },
  "a rotation of a key and of a webhook's secret, and a purchase": {
    act: async (account) => {
      const { system, accountId } = account;
      const keyId = await firstKeyId(account);
      await account.command(() => createKey(system.accounts, accountId, { mode: "live" }));
      await account.command(() => rotateKey(system.accounts, accountId, keyId, 3_600_000));
      await account.command(() => rotateWebhookSecret(system.endpoints, accountId));
      await buy()(account);
      const unused = await newestKeyId(account);
      await account.command(() => revokeKey(system.accounts, accountId, unused));
    },
    ends: ["success"],
  },
  "a refresh of the catalog, and a purchase": {
    prepare: async () => advance(2 * 3_600_000),
    act: async (account) => {
      await account.system.runSchedule("refresh-catalog");
      await buy()(account);
    },
    ends: ["success"],
  },
  "a funding and an adjustment": {
    act: async (account) => {
      const { system, accountId } = account;
      const amountKobo = koboFromNaira(250);
      await account.command(() =>
        fundWallet(system.ledger, { accountId, fundingId: `second-${accountId}`, amountKobo }),
      );
      const less = { accountId, adjustmentId: "fee", amount_kobo: -koboFromNaira(50), why: "a fee" };
      await account.command(() => adjustWallet(system.ledger, less));
    },
    ends: [],
  },
};
