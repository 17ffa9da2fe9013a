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
import type { Stage } from "./stage.ts";
import { advance } from "./world/clock.ts";
import type { PumpManner } from "./world/pump.ts";

/** A piece of life whose effects are counted, and then disturbed one by one. */
export type Scenario = {
  /** Made without faults, and not counted. */
  readonly prepare?: (stage: Stage) => Promise<void>;
  readonly act: (stage: Stage) => Promise<void>;
  /** How its transactions end where nothing is disturbed: that it does what its name says. */
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
  async (stage) => {
    await stage.ask(routes.buyData, order("order-1", phone));
    await stage.world.pump.once();
  };

const verify =
  (nin?: string): Scenario["act"] =>
  async (stage) => {
    await stage.ask(routes.verifyNin, check("check-1", nin));
    await stage.world.pump.once();
  };

const upstreamEnds = (stage: Stage, status: "success" | "failed"): void => {
  const newest = stage.world.upstream.purchases.at(-1);
  if (newest !== undefined) stage.world.upstream.settle(newest, status);
};

/** The upstream reports how the stage's newest order ended, until it is heard. */
const report = async (stage: Stage, status: "success" | "failed"): Promise<void> => {
  upstreamEnds(stage, status);
  const newest = stage.world.upstream.purchases.at(-1);
  if (newest !== undefined && !(await stage.world.report(newest, status))) await stage.world.report(newest, status);
};

const onlyTransaction = async (stage: Stage) => {
  const [transaction] = await transactionsOf(stage);
  if (transaction === undefined) throw new Error("The stage has no transaction");
  return transaction;
};

/** Leaves a purchase open, as after an upstream that did not answer, and that has ended it meanwhile. */
const leaveOpen =
  (ended: "success" | "failed") =>
  async (stage: Stage): Promise<void> => {
    await stage.ask(routes.buyData, order("order-1", numbers.noAnswer));
    upstreamEnds(stage, ended);
    // By now its request has certainly ended.
    advance(60_000);
  };

const resolve =
  (status: "success" | "failed"): Scenario["act"] =>
  async (stage) => {
    const transaction = await onlyTransaction(stage);
    await stage.command(() => resolveTransaction(stage.world.ledger, transaction, status, byOperator));
    await stage.world.pump.once();
  };

const EVENT_PATIENCE_MS = 190_000;
/** An event whose transaction the index does not show yet is looked at again after 5 s. */
const LOOK_AGAIN_MS = 6_000;

/** Delivers events, also those whose transaction the index shows a little later. */
const applyEvents = async ({ world }: Stage, manner?: PumpManner): Promise<void> => {
  await world.pump.once(manner);
  advance(LOOK_AGAIN_MS);
  await world.pump.once(manner);
};

/** An event of an unknown reference that says `failed`: only an operator may believe it. */
const leaveUnmatched = async (stage: Stage): Promise<void> => {
  await leaveOpen("failed")(stage);
  await report(stage, "failed");
  await stage.world.pump.once();
  advance(EVENT_PATIENCE_MS);
  await stage.world.pump.once();
};

const newestEvent = async ({ world }: Stage) => {
  const event = (await listEvents(world.ledger, "0000")).at(-1);
  if (event === undefined) throw new Error("No event was left to the operator");
  return event;
};

const firstKeyId = async ({ world, accountId }: Stage): Promise<string> =>
  (await requireAccount(world.accounts, accountId)).keys[0]?.key_id ?? "";

/** The app goes on with its first key, also where a rotation has ended the newest one early. */
const newestKeyId = async ({ world, accountId }: Stage): Promise<string> =>
  (await requireAccount(world.accounts, accountId)).keys.at(-1)?.key_id ?? "";

export const scenarios: Readonly<Record<string, Scenario>> = {
  "a purchase that is delivered": { act: buy(), ends: ["success"] },
  "a purchase that the upstream could not deliver": { act: buy(numbers.failed), ends: ["processing"] },
  "a purchase for which our money at the upstream does not reach": { act: buy(numbers.poorUpstream), ends: ["failed"] },
  "a purchase that the upstream refuses": {
    prepare: async (stage) => {
      const body = { status: false, message: "Invalid", errors: { phone_number: ["Is not a number"] } };
      stage.world.upstream.faults.add({ kind: "status", path: "/vtu", status: 422, body, times: 1 });
    },
    act: buy(),
    ends: ["failed"],
  },
  "a purchase whose upstream is down": { act: buy(numbers.upstreamDown), ends: ["processing"] },
  "a purchase that is beyond the balance": {
    prepare: async (stage) => {
      const accountId = stage.accountId;
      const empty = { accountId, adjustmentId: "empty", amount_kobo: -koboFromNaira(9_900), why: "for the test" };
      await adjustWallet(stage.world.ledger, empty);
    },
    act: buy(),
    ends: [],
  },
  "a top-up": {
    act: async (stage) => {
      const body = { network: "mtn", amount: 100, phone_number: "08031234567", reference: "top-up-1" };
      await stage.ask(routes.buyAirtime, body);
      await stage.world.pump.once();
    },
    ends: ["success"],
  },
  "a purchase that ends well by an event": {
    act: async (stage) => {
      await stage.ask(routes.buyData, order("order-1", numbers.endsWell));
      await report(stage, "success");
      await applyEvents(stage);
    },
    ends: ["success"],
  },
  "a purchase that ends badly by an event": {
    act: async (stage) => {
      await stage.ask(routes.buyData, order("order-1", numbers.endsBadly));
      await report(stage, "failed");
      await applyEvents(stage);
    },
    ends: ["failed"],
  },
  "a purchase without an answer, whose event is matched": {
    act: async (stage) => {
      await stage.ask(routes.buyData, order("order-1", numbers.noAnswer));
      await report(stage, "success");
      await stage.world.pump.once();
      advance(EVENT_PATIENCE_MS);
      await stage.world.pump.once();
    },
    ends: ["success"],
  },
  "an event that comes three times, and then its contrary": {
    prepare: async (stage) => {
      await stage.ask(routes.buyData, order("order-1", numbers.endsWell));
    },
    act: async (stage) => {
      for (let copy = 0; copy < 3; copy += 1) await report(stage, "success");
      await applyEvents(stage);
      // The contrary speaks against an end that we know of: whichever came first would be believed.
      if ((await onlyTransaction(stage)).status === "success") await report(stage, "failed");
      await applyEvents(stage);
    },
    ends: ["success"],
  },
  "two copies of an event that says failed, at the same time": {
    prepare: async (stage) => {
      await stage.ask(routes.buyData, order("order-1", numbers.endsBadly));
    },
    act: async (stage) => {
      for (const status of ["failed", "failed"] as const) await report(stage, status);
      await applyEvents(stage, "at_once");
    },
    ends: ["failed"],
  },
  "a sandbox purchase that ends by an event": {
    act: async (stage) => {
      await stage.ask(routes.buyData, order("order-1", numbers.endsWell), "test");
      advance(6_000);
      await stage.world.pump.once();
    },
    ends: ["success"],
  },
  "a check that finds a record": { act: verify(), ends: ["success"] },
  "a check that finds none": { act: verify("00000000001"), ends: ["failed"] },
  "a check without an answer": { act: verify("00000000006"), ends: ["failed"] },
  "an abandoned check": {
    prepare: async (stage) => {
      // Its process ended when it was about to ask the upstream.
      stage.world.plan = ({ place }) => (place === "upstream" ? "dies_before" : undefined);
      await stage.ask(routes.verifyNin, check("check-1"));
      stage.world.plan = () => undefined;
      advance(6 * 60_000);
    },
    act: async (stage) => {
      await stage.world.strike("reconcile-ledger");
      await stage.world.pump.once();
    },
    ends: ["failed"],
  },
  "an operator who resolves as success": { prepare: leaveOpen("success"), act: resolve("success"), ends: ["success"] },
  "an operator who resolves as failed": { prepare: leaveOpen("failed"), act: resolve("failed"), ends: ["failed"] },
  "an operator who matches an event": {
    prepare: leaveUnmatched,
    act: async (stage) => {
      const [transaction, event] = [await onlyTransaction(stage), await newestEvent(stage)];
      await stage.command(() => matchEvent(stage.world.ledger, event, transaction, byOperator));
      await stage.world.pump.once();
    },
    ends: ["failed"],
  },
  "an operator who discards an event": {
    prepare: leaveUnmatched,
    act: async (stage) => {
      const event = await newestEvent(stage);
      await stage.command(() => discardEvent(stage.world.ledger, event, byOperator));
    },
    ends: ["processing"],
  },
  "a delivery to a receiver that fails at first": {
    prepare: async (stage) => {
      stage.receiver.failNext(2);
    },
    act: async (stage) => {
      await buy()(stage);
      for (let round = 0; round < 3; round += 1) {
        advance(10 * 60_000);
        await stage.world.pump.once();
      }
    },
    ends: ["success"],
  },
  "a rotation of a key and of a webhook's secret, and a purchase": {
    act: async (stage) => {
      const { world, accountId } = stage;
      const keyId = await firstKeyId(stage);
      await stage.command(() => createKey(world.accounts, accountId, { mode: "live" }));
      await stage.command(() => rotateKey(world.accounts, accountId, keyId, 3_600_000));
      await stage.command(() => rotateWebhookSecret(world.endpoints, accountId));
      await buy()(stage);
      const unused = await newestKeyId(stage);
      await stage.command(() => revokeKey(world.accounts, accountId, unused));
    },
    ends: ["success"],
  },
  "a refresh of the catalog, and a purchase": {
    prepare: async () => advance(2 * 3_600_000),
    act: async (stage) => {
      await stage.world.strike("refresh-catalog");
      await buy()(stage);
    },
    ends: ["success"],
  },
  "a funding and an adjustment": {
    act: async (stage) => {
      const { world, accountId } = stage;
      const amountKobo = koboFromNaira(250);
      await stage.command(() => fundWallet(world.ledger, { accountId, fundingId: `second-${accountId}`, amountKobo }));
      const less = { accountId, adjustmentId: "fee", amount_kobo: -koboFromNaira(50), why: "a fee" };
      await stage.command(() => adjustWallet(world.ledger, less));
    },
    ends: [],
  },
};
