import { PutSecretValueCommand } from "@aws-sdk/client-secrets-manager";
import { describe, expect, onTestFinished, test } from "vitest";
import * as z from "#zod";
import { setAccountStatus } from "../../shared/access/accounts.ts";
import { routes } from "../../shared/contract/routes.ts";
import { MINUTE_MS } from "../../shared/contract/values/durations.ts";
import { queuedOrders } from "../../shared/ledger/schema.ts";
import { referenceOf } from "../../shared/ledger/transaction.ts";
import { openSecretsManager } from "../../shared/platform/aws/sdk.ts";
import { SECRET_CACHE_MS, secret } from "../../shared/platform/secrets.ts";
import { enqueueRange } from "../../tools/admin/enqueue-range.ts";
import { anOrder } from "../builders/service/service.ts";
import { strictSettings } from "../strict/settings.ts";
import { transactionsOf } from "./invariants.ts";
import {
  alarmsOf,
  begin,
  type Load,
  type OrderLine,
  placeOrder,
  runTraffic,
  type Traffic,
} from "./mixed-load/traffic.ts";
import { limited, oddRetryAfters } from "./mixed-load/weather.ts";
import { advance, now, pass } from "./system/clock.ts";
import { startSystem } from "./system/system.ts";
import { openAppEndpoint, openTestAccount } from "./test-account.ts";

/**
 * Goal: what happens to one order, one account, one process or one index holds up and misleads nobody else. Method:
 * traffic of some accounts in simulated time, with one disturbance.
 */
const SEED = Number(process.env.MODEL_SEED ?? 1);
/** The long form, of `npm run test:faults`, has more accounts, more time in which something may be held up, and more of each kind. */
const IS_LONG = process.env.REALITIES === "long";
/** Of the tests with traffic the short form has one half, each run another. */
const HALF = Number(process.env.REALITIES_HALF ?? Date.now()) % 2;
const inHalf = (half: 0 | 1) => (name: string, run: () => Promise<void>) => {
  if (IS_LONG || half === HALF) test(name, run);
};
const S = 1_000;
const recipients = ["08031234567", "08031234568", "08031234569", "08031234570", "08031234571", "08031234572"];
/** Until the next run of the sender, and as long for the run itself. */
const WAIT_MS_MAX = 150 * S;

const steady = {
  minutes: IS_LONG ? 8 : 4,
  accounts: IS_LONG ? 3 : 2,
  seed: SEED,
  ordersAMinute: 3,
  aws: "perfect",
  phoneNumbers: recipients,
} as const;
const run = (changes: Partial<Traffic> & Pick<Traffic, "disturb">) => runTraffic({ ...steady, ...changes });

/** The whole system in simulated time, and an app's endpoint, until the test ends. */
const openSystem = async () => {
  const system = await startSystem({ seed: SEED });
  const endpoint = await openAppEndpoint();
  onTestFinished(async () => {
    await endpoint.stop();
    await system.stop();
  });
  return { system, endpoint };
};

const webhookBody = z.object({ data: z.object({ reference: z.string() }) });
const describeOrder = ({ transaction, placedMs, carriedOutMs }: OrderLine): string => {
  const waited =
    carriedOutMs === undefined ? "never carried out" : `carried out after ${(carriedOutMs - placedMs) / S} s`;
  return `${transaction.caller_reference} of ${transaction.account_id}: ${transaction.status}, ${waited}`;
};
/** Orders that should have been delivered by then, and were not. */
const late = (orders: readonly OrderLine[], waitMsMax = WAIT_MS_MAX): readonly string[] =>
  orders
    .filter(({ carriedOutMs, placedMs, transaction }) => {
      const isInTime = carriedOutMs !== undefined && carriedOutMs - placedMs <= waitMsMax;
      return !isInTime || transaction.status !== "success";
    })
    .map(describeOrder);

inHalf(0)(
  `orders to one recipient that the upstream refuses by themselves hold up no other account (seed ${SEED})`,
  async () => {
    const refused = "08039999999";
    let repeating = "";
    const repeat = async (load: Load): Promise<void> => {
      while (now() < load.endsMs) {
        const [account] = load.accounts;
        repeating = account?.accountId ?? "";
        if (account !== undefined) begin(load, placeOrder(load, account, refused));
        await pass(20 * S);
      }
    };
    const { orders, violations } = await run({
      disturb: (load) => {
        load.system.upstream.limitedRecipients.add(refused);
        void repeat(load);
        return () => load.system.upstream.limitedRecipients.clear();
      },
    });
    expect(late(orders.filter(({ accountId }) => accountId !== repeating))).toEqual([]);
    expect(violations).toEqual([]);
  },
);

for (const retryAfter of IS_LONG ? ["1", ...oddRetryAfters] : (["86400"] as const)) {
  inHalf(1)(
    `a 429 with Retry-After: ${retryAfter} holds up orders for two minutes at most (seed ${SEED})`,
    async () => {
      const { orders, violations } = await run({
        minutes: IS_LONG ? 6 : 4,
        disturb: ({ system }) => {
          void pass(MINUTE_MS).then(() => system.upstream.faults.add(limited(retryAfter)));
          return () => {};
        },
      });
      expect(late(orders)).toEqual([]);
      expect(violations).toEqual([]);
    },
  );
}

inHalf(1)(
  `an index key of one account that stays full holds up the queued orders of no other (seed ${SEED})`,
  async () => {
    const waitMsMax = 4 * MINUTE_MS;
    let full = "";
    let endsMs = 0;
    const fullFromMs = IS_LONG ? 2 * MINUTE_MS : MINUTE_MS;
    const { orders, violations } = await run({
      minutes: IS_LONG ? 8 : 6,
      aws: "lag",
      ordersAMinute: 3,
      upstreamOrdersAMinute: IS_LONG ? 7 : 5,
      disturb: ({ system, accounts, ...load }) => {
        full = accounts[0]?.accountId ?? "";
        endsMs = load.endsMs;
        void pass(fullFromMs).then(() => system.strict()?.dynamodb.fillIndexKey(queuedOrders(full)));
        return () => system.strict()?.dynamodb.fillIndexKey(undefined);
      },
    });
    // What is placed later may still wait when the traffic ends.
    const others = orders.filter(({ accountId, placedMs }) => accountId !== full && placedMs + waitMsMax < endsMs);
    expect(others).not.toEqual([]);
    expect(late(others, waitMsMax)).toEqual([]);
    expect(violations).toEqual([]);
  },
);

inHalf(0)(`no order of a restricted account is sent, also none that waits (seed ${SEED})`, async () => {
  let restricted = "";
  let sinceMs = 0;
  let untilMs = 0;
  const { orders, violations } = await run({
    ordersAMinute: 6,
    upstreamOrdersAMinute: IS_LONG ? 10 : 7,
    disturb: ({ system, accounts }) => {
      restricted = accounts[0]?.accountId ?? "";
      const restrict = async (): Promise<void> => {
        await pass(steady.minutes * MINUTE_MS * 0.4);
        await system.run(() => setAccountStatus(system.accounts, restricted, "restricted"));
        // What was claimed before may be on its way.
        sinceMs = now() + 35 * S;
      };
      void restrict();
      return async () => {
        untilMs = now();
        await system.run(() => setAccountStatus(system.accounts, restricted, "active"));
      };
    },
  });
  const sent = orders.filter(
    ({ accountId, carriedOutMs = 0 }) => accountId === restricted && carriedOutMs > sinceMs && carriedOutMs < untilMs,
  );
  expect(sinceMs).toBeGreaterThan(0);
  expect(sent.map(describeOrder)).toEqual([]);
  expect(violations).toEqual([]);
});

describe("an event whose order the indexes hide for minutes", () => {
  const LAG_MS = 4 * MINUTE_MS;
  const ABANDONED_MS = 20 * MINUTE_MS;

  test.each([
    ["whose answer was recorded", "08031234567"],
    ["that got no answer", "08000000007"],
  ])("settles no other order that looks the same as the one %s", async (_name, phone_number) => {
    const { system, endpoint } = await openSystem();
    await system.runSchedule("refresh-catalog");
    const account = await openTestAccount(system, endpoint);
    system.setStrict({ ...strictSettings.lag, queues: { duplicates: 0, late: 0, reordered: false } }, SEED);
    const buy = (reference: string) => account.send(routes.buyData, { ...anOrder({ phone_number }), reference });
    system.plan = ({ place }) => (place === "upstream" ? "dies_before" : undefined);
    await buy("never-sent");
    system.plan = () => undefined;
    advance(10 * S);
    system.strict()?.dynamodb.lagBy({ min: LAG_MS, max: LAG_MS });
    await buy("sent");
    const [order] = system.upstream.purchases;
    if (order === undefined) throw new Error("Nothing was ordered");
    system.upstream.settle(order, "success");
    await system.sendEvent(order, "success");
    for (let elapsedMs = 0; elapsedMs < ABANDONED_MS; elapsedMs += 15 * S) {
      await system.eventSources.deliver();
      advance(15 * S);
    }
    const statuses = (await transactionsOf(account)).map(({ caller_reference, status }) => [caller_reference, status]);
    expect(Object.fromEntries(statuses)).toMatchObject({ "never-sent": "processing" });
  });
});

test("another version of the reference key sells nothing, finds nothing and says so, until the ledger's own is current again", async () => {
  const { system, endpoint } = await openSystem();
  const readReferenceKey = secret(openSecretsManager(), "reference-key").refetch;
  const setReferenceKey = (SecretString: string) =>
    openSecretsManager().send(new PutSecretValueCommand({ SecretId: "reference-key", SecretString }));
  await system.runSchedule("refresh-catalog");
  const account = await openTestAccount(system, endpoint);
  const delivered = await account.send(routes.buyData, { ...anOrder({}), reference: "order-1" });
  const own = (await readReferenceKey()) ?? "";

  await setReferenceKey("o".repeat(43));
  system.fleet.end();
  await account.resend(delivered);
  const other = await account.send(routes.buyData, { ...anOrder({}), reference: "order-2" });
  const unnamed = await system.call(routes.buyData, account.keys.live, anOrder({ reference: undefined }));
  const lookup = await system.call(routes.getTransaction, account.keys.live, {}, "/transactions/order-1");
  expect([delivered.answers[1], other.answers[0], unnamed?.statusCode, lookup?.statusCode]).toEqual([
    ...[undefined, undefined],
    ...[500, 500],
  ]);
  expect(system.upstream.requests).toHaveLength(1);
  expect(await transactionsOf(account)).toHaveLength(1);
  expect(alarmsOf(system.observed).get("reference_key.differs")).toBeGreaterThan(0);

  await setReferenceKey(own);
  advance(SECRET_CACHE_MS);
  await account.resend(delivered);
  await account.resend(other);
  expect(delivered.answers[2]?.headers["idempotent-replayed"]).toBe("true");
  expect(other.answers[1]?.statusCode).toBe(200);
  expect(system.upstream.requests).toHaveLength(2);
});

test("webhooks whose changes the stream trimmed are lost, those of later orders are sent, and announce sends the lost ones once", async () => {
  const { system, endpoint } = await openSystem();
  await system.runSchedule("refresh-catalog");
  const account = await openTestAccount(system, endpoint);
  const buy = (reference: string) => account.send(routes.buyData, { ...anOrder({}), reference });
  const received = async () => {
    const transactions = await transactionsOf(account);
    const names: readonly string[] = endpoint.received.map(({ body }) => {
      const { reference } = webhookBody.parse(JSON.parse(body)).data;
      return transactions.find((each) => referenceOf(each) === reference)?.caller_reference ?? reference;
    });
    return names.toSorted();
  };
  const fromMs = now();
  await buy("lost-1");
  await buy("lost-2");
  const toMs = now();
  await system.eventSources.trimHorizon();
  advance(25 * 3_600 * S);
  await system.runSchedule("refresh-catalog");
  await buy("later");
  await system.eventSources.deliver();
  expect(await received()).toEqual(["later"]);

  const lost = { fromMs, toMs, resendId: "trimmed" };
  for (const _run of ["first", "repeated"]) {
    await enqueueRange({ ledger: system.ledger, queue: system.deliveryQueue }, lost);
    await system.eventSources.deliver();
    expect(await received()).toEqual(["later", "lost-1", "lost-2"]);
  }
});

describe("queued orders", () => {
  /** A burst of one account while the limit is spent, and a sender whose writes lose many answers. */
  const burst: Traffic["disturb"] = (load) => {
    const { system, chance, accounts } = load;
    const [account] = accounts;
    const order = async (): Promise<void> => {
      await pass(MINUTE_MS);
      system.upstream.faults.add(limited("60"));
      for (let count = 0; count < 12 && account !== undefined; count += 1)
        await placeOrder(load, account, "08031234567");
      system.weather = ({ place, name }) =>
        place === "dynamodb" && name === "TransactWriteItems" && chance.happens(0.25) ? "never_arrives" : undefined;
    };
    begin(load, order());
    return () => {
      system.weather = () => undefined;
    };
  };

  for (const seed of IS_LONG ? [SEED, SEED + 1, SEED + 2] : [SEED]) {
    inHalf(0)(`of an account are carried out in their order (seed ${seed})`, async () => {
      const { orders, violations } = await run({ seed, aws: "conflicts", ordersAMinute: 1, disturb: burst });
      for (const [, of] of Map.groupBy(orders, ({ accountId }) => accountId)) {
        const waited = of.filter(
          ({ transaction, carriedOutMs }) => transaction.claim !== undefined && carriedOutMs !== undefined,
        );
        const inOrder = waited.toSorted((one, other) =>
          one.transaction.created_at < other.transaction.created_at ? -1 : 1,
        );
        const sent = waited.toSorted((one, other) => (one.carriedOutMs ?? 0) - (other.carriedOutMs ?? 0));
        expect(sent.map(describeOrder)).toEqual(inOrder.map(describeOrder));
      }
      expect(violations).toEqual([]);
    });
  }

  inHalf(1)(`are sent when their answers said, whichever process gave them (seed ${SEED})`, async () => {
    const { orders, violations } = await run({
      minutes: IS_LONG ? 5 : 4,
      ordersAMinute: 6,
      disturb: ({ system }) => {
        system.fleet.spread = 4;
        void pass(MINUTE_MS).then(() => system.upstream.faults.add(limited("60")));
        return () => {};
      },
    });
    const wrong = orders.flatMap((order) => {
      const estimatedS = Number(order.request.answers[0]?.headers["x-estimated-delivery"] ?? 0);
      const waitedS = ((order.carriedOutMs ?? 0) - order.placedMs) / S;
      return waitedS > estimatedS + 70 ? [`${describeOrder(order)}, and should have been after ${estimatedS} s`] : [];
    });
    expect(wrong).toEqual([]);
    expect(violations).toEqual([]);
  });
});
