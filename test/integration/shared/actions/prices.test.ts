import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { setWhitelist } from "../../../../shared/access/accounts.ts";
import { createAdmission } from "../../../../shared/access/admission.ts";
import { loadChecksumKey } from "../../../../shared/access/checksum-key.ts";
import { createKey, revokeKey } from "../../../../shared/access/keys.ts";
import { PRICE_LEAD_MS, pricesRuns } from "../../../../shared/actions/prices.ts";
import { catalogMemory } from "../../../../shared/catalog/catalog-memory.ts";
import { listCatalog } from "../../../../shared/catalog/list-catalog.ts";
import { snapshotOf } from "../../../../shared/catalog/snapshot.ts";
import type { ActionInput } from "../../../../shared/contract/actions/actions.ts";
import type { Catalog } from "../../../../shared/contract/catalog.ts";
import { routes } from "../../../../shared/contract/routes.ts";
import { DAY_MS } from "../../../../shared/contract/values/durations.ts";
import { koboFromNaira, nairaFromKobo } from "../../../../shared/contract/values/money.ts";
import { parseIdentityPrices } from "../../../../shared/identity/identity-prices.ts";
import { apiEvent, callRequest } from "../../../../shared/lambda/api-request.ts";
import { readAudit } from "../../../../shared/ledger/audit.ts";
import { upstreamCosts } from "../../../../shared/ledger/upstream-costs.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { priceRules } from "../../../../shared/prices/price-list.ts";
import { priceOrder } from "../../../../shared/prices/price-order.ts";
import type { FaceValue } from "../../../../shared/prices/price-rule.ts";
import { anApiEvent } from "../../../builders/aws/api-event.ts";
import { recordCalls } from "../../../builders/aws/recorded-calls.ts";
import { anActionContext } from "../../../builders/ledger/action-context.ts";
import { openOperatorLedger } from "../../../builders/ledger/operator-ledger.ts";
import { checksumKey } from "../../../builders/ledger/secrets.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";

/** Goal: what an account is shown is what it pays, at every moment, and no rule sells below cost by mistake. */
const operator = await openOperatorLedger();

const costs = upstreamCosts.parse({
  discounts: [
    { kind: "airtime", percent: 3 },
    { kind: "data", percent: 5 },
    { kind: "data", network: "glo", percent: 4 },
  ],
});
const catalog: Catalog = {
  networks: [
    { id: 1, name: "MTN", code: "mtn" },
    { id: 3, name: "Glo", code: "glo" },
  ],
  data_plans: [
    { id: 101, network_id: 1, name: "1GB", price: 500, validity: "30 days" },
    { id: 102, network_id: 1, name: "2GB", price: 999.99, validity: "30 days" },
    { id: 301, network_id: 3, name: "1GB", price: 450, validity: "30 days" },
  ],
};
const snapshot = () => snapshotOf(catalog, NOON_MS);
const contextAt = (nowMs = NOON_MS) =>
  anActionContext(operator.tables, {
    clock: () => nowMs,
    costs,
    catalog: { ...anActionContext(operator.tables).catalog, read: async () => snapshot() },
  });
const set = (account: string, input: Partial<ActionInput<"prices set">>, nowMs = NOON_MS) =>
  pricesRuns["prices set"](contextAt(nowMs), { account, kind: "data", why: "contract", ...input });

describe("prices set", () => {
  test("begins at once without a key, and if the account has or had one only once no app may hold the price before it", async () => {
    const { accountId: account } = await operator.anAccount();
    expect((await set(account, { percent: -4 })).rule).toMatchObject({ from: isoTime(NOON_MS), state: "in force" });
    const { keyId } = await createKey(contextAt().accounts, account, { mode: "live" });
    await revokeKey(contextAt().accounts, account, keyId);
    const earliest = isoTime(NOON_MS + PRICE_LEAD_MS);
    expect((await set(account, { percent: -3 })).rule).toMatchObject({ from: earliest, state: "later" });
    const early = isoTime(NOON_MS + PRICE_LEAD_MS - 1);
    await expect(set(account, { percent: -2, from: early })).rejects.toThrow(`can begin at ${earliest} or later`);
    const { rules } = await pricesRuns["prices list"](contextAt(), { account });
    expect(rules.map(({ percent, state }) => [percent, state])).toEqual([
      [-4, "in force"],
      [-3, "later"],
    ]);
    expect((await readAudit(operator.ledgerAt(), account)).map(({ action, why }) => [action, why])).toEqual([
      ["prices set", "contract"],
      ["prices set", "contract"],
    ]);
  });

  test.each<[string, Partial<ActionInput<"prices set">>]>([
    ["4.01 percent off data, of which Glo's cost 4 percent less", { percent: -4.01 }],
    ["22.51 NGN off a plan of 450 NGN", { plan_id: 301, amount_kobo: -22_51 }],
    ["1 NGN off checks, whose cost is unknown", { kind: "nin_verification", amount_kobo: -1_00 }],
    ["3.01 percent off airtime", { kind: "airtime", percent: -3.01 }],
  ])("refuses %s as below cost, unless that is meant", async (_, input) => {
    const { accountId: account } = await operator.anAccount();
    await expect(set(account, input)).rejects.toThrow(/below cost/);
    expect((await set(account, { ...input, below_cost: true })).rule).toMatchObject({ below_cost: true });
  });

  test.each<[string, Partial<ActionInput<"prices set">>, RegExp]>([
    ["both a percentage and an amount", { percent: 1, amount_kobo: 1 }, /not both/],
    ["neither", {}, /not both/],
    ["an unknown network", { network: "etisalat", percent: 1 }, /no network etisalat/],
    ["an unknown plan", { plan_id: 999, percent: 1 }, /no plan 999/],
    ["a network of checks", { kind: "bvn_verification", network: "mtn", percent: 1 }, /have a network/],
    ["a retrieval that costs no more than a check", { kind: "nin_verification", percent: 60 }, /must cost more/],
    ["a plan for nothing", { plan_id: 101, percent: -100, below_cost: true }, /at least NGN 0.01/],
  ])("refuses %s", async (_, input, message) => {
    const { accountId: account } = await operator.anAccount();
    await expect(set(account, input)).rejects.toThrow(message);
  });
});

describe("a rule without a network, where each network has a discount of its own", () => {
  const own = upstreamCosts.parse({
    discounts: (["data", "airtime"] as const).flatMap((kind) => [
      { kind, network: "mtn", percent: 5 },
      { kind, network: "glo", percent: 4 },
    ]),
  });
  /** Sets the rule while the catalog has MTN and Glo. */
  const setOwn = async (input: Partial<ActionInput<"prices set">>) => {
    const { accountId: account } = await operator.anAccount();
    await pricesRuns["prices set"](
      { ...contextAt(), costs: own },
      { account, kind: "data", why: "contract", ...input },
    );
    return { accountId: account, priceList: 1 };
  };
  const pricesOf = async (caller: { accountId: string; priceList: number }, order: Omit<FaceValue, "faceKobo">) =>
    Promise.all(
      ["mtn", "glo", "smile", undefined].map(async (network) => {
        const deps = { prices: priceRules(operator.ledgerAt()), costs: own, ledger: { clock: () => NOON_MS } };
        const { amountKobo } = await priceOrder(deps, caller, { ...order, network, faceKobo: koboFromNaira(500) });
        return nairaFromKobo(amountKobo);
      }),
    );

  test("does not sell orders of a network that is added later, whose discount is unknown, below cost", async () => {
    for (const kind of ["data", "airtime"] as const) {
      const less = await setOwn({ kind, percent: -4 });
      expect(await pricesOf(less, { kind, planId: 101 })).toEqual([480, 480, 500, 500]);
      const amount = await setOwn({ kind, amount_kobo: -10_00 });
      expect(await pricesOf(amount, { kind, planId: 101 })).toEqual([490, 490, 500, 500]);
      const more = await setOwn({ kind, percent: 4 });
      expect(await pricesOf(more, { kind, planId: 101 })).toEqual([520, 520, 520, 520]);
      const meant = await setOwn({ kind, percent: -4, below_cost: true });
      expect(await pricesOf(meant, { kind, planId: 101 })).toEqual([480, 480, 480, 480]);
    }
  });

  test("does not sell below cost where the id of its plan is used for a plan of another network", async () => {
    const caller = await setOwn({ plan_id: 101, percent: -5 });
    expect(await pricesOf(caller, { kind: "data", planId: 101 })).toEqual([475, 500, 500, 500]);
  });

  test("does not sell below cost for a network that is added later, and whose discount is lower than that of the kind", async () => {
    const lower = upstreamCosts.parse({
      discounts: [
        { kind: "airtime", percent: 3 },
        { kind: "airtime", network: "smile", percent: 1 },
      ],
    });
    const { accountId: account } = await operator.anAccount();
    const input = { account, kind: "airtime", percent: -3, why: "contract" } as const;
    await pricesRuns["prices set"]({ ...contextAt(), costs: lower }, input);
    expect(await pricesOf({ accountId: account, priceList: 1 }, { kind: "airtime" })).toEqual([485, 485, 500, 500]);
  });

  test("is listed as below cost once the upstream's discount is lower than it was, as far as it takes off more", async () => {
    const { accountId: account } = await operator.anAccount();
    const each = [
      [{ kind: "airtime", percent: -2 }, true],
      [{ kind: "airtime", network: "glo", amount_kobo: -10_00 }, true],
      [{ kind: "airtime", network: "mtn", percent: -1 }, false],
      [{ kind: "data", percent: -4 }, false],
    ] as const;
    const ids: string[] = [];
    for (const [input] of each) ids.push((await set(account, input)).rule.rule_id);
    const listed = async (percent: number) => {
      const discounts = [
        { kind: "airtime", percent },
        { kind: "data", percent: 4 },
      ];
      const context = { ...contextAt(), costs: upstreamCosts.parse({ discounts }) };
      const { rules } = await pricesRuns["prices list"](context, { account });
      return new Map(rules.map(({ rule_id, below_cost }) => [rule_id, below_cost]));
    };
    const [before, after] = [await listed(3), await listed(1)];
    expect(ids.map((id) => before.get(id))).toEqual([false, false, false, false]);
    expect(ids.map((id) => after.get(id))).toEqual(each.map(([, isBelow]) => isBelow));
  });

  test("is listed as below cost as it was meant, also while the catalog has nothing that it is for", async () => {
    const { accountId: account } = await operator.anAccount();
    await set(account, { kind: "airtime", network: "glo", percent: -9, below_cost: true });
    await set(account, { kind: "airtime", network: "mtn", percent: -1 });
    const empty = async () => snapshotOf({ networks: [], data_plans: [] }, NOON_MS);
    for (const catalog of [contextAt().catalog, { ...contextAt().catalog, read: empty }]) {
      const { rules } = await pricesRuns["prices list"]({ ...contextAt(), catalog }, { account });
      expect(rules.map(({ network, below_cost }) => [network, below_cost])).toEqual([
        ["glo", true],
        ["mtn", false],
      ]);
    }
  });

  test("is bounded by the discount of the kind while the catalog has no network", async () => {
    const empty = async () => snapshotOf({ networks: [], data_plans: [] }, NOON_MS);
    const context = { ...contextAt(), catalog: { ...contextAt().catalog, read: empty } };
    const { accountId: account } = await operator.anAccount();
    const setEmpty = (percent: number) =>
      pricesRuns["prices set"](context, { account, kind: "airtime", percent, why: "contract" });
    await expect(setEmpty(-3.01)).rejects.toThrow(/discount is 3 percent/);
    expect((await setEmpty(-3)).rule).toMatchObject({ percent: -3, below_cost: false });
  });
});

test("a rule that has not begun is dropped, and one in force ends once no app may hold its price", async () => {
  const { accountId: account } = await operator.anAccount();
  const { rule } = await set(account, { percent: -4 });
  await createKey(contextAt().accounts, account, { mode: "live" });
  const { rule: later } = await set(account, { percent: -2 });
  const remove = (rule_id: string, nowMs = NOON_MS) =>
    pricesRuns["prices remove"](contextAt(nowMs), { account, rule_id, why: "ended" });
  expect(await remove(later.rule_id)).toMatchObject({ ends_at: isoTime(NOON_MS) });
  await expect(remove(later.rule_id)).rejects.toThrow(
    /has no price rule pr_\w+\. audit acc_\w+ shows who removed one$/,
  );
  expect(await remove(rule.rule_id)).toMatchObject({ ends_at: isoTime(NOON_MS + PRICE_LEAD_MS) });
  const rulesAt = async (nowMs: number) => (await pricesRuns["prices list"](contextAt(nowMs), { account })).rules;
  expect((await rulesAt(NOON_MS)).map(({ percent }) => percent)).toEqual([-4, null]);
  expect(await rulesAt(NOON_MS + PRICE_LEAD_MS)).toEqual([]);
});

test.each([
  ["in force", undefined],
  ["that has not begun", isoTime(NOON_MS + DAY_MS)],
])("a rule %s, without which a retrieval would cost no more than a check, is not removed", async (_, from) => {
  const { accountId: account } = await operator.anAccount();
  const { rule } = await set(account, { kind: "nin_retrieval", percent: 50, from });
  await set(account, { kind: "nin_verification", amount_kobo: 200_00, from });
  const removal = pricesRuns["prices remove"](contextAt(), { account, rule_id: rule.rule_id, why: "ended" });
  await expect(removal).rejects.toThrow("A retrieval by NIN must cost more than a verification");
});

/** An app that keeps the catalog for as long as HTTP allows, and the functions that it calls. */
const anApp = async (account: string) => {
  let nowMs = NOON_MS;
  const clock = () => nowMs;
  await setWhitelist(contextAt().accounts, account, ["127.0.0.1"]);
  const { key } = await createKey(contextAt().accounts, account, { mode: "live" });
  const { accountTables, ledger } = { accountTables: operator.tables, ledger: { ...operator.ledgerAt(), clock } };
  const admit = createAdmission(ledger.db, accountTables.accessTable, loadChecksumKey(checksumKey), clock);
  const [shown, debited] = [priceRules(ledger), priceRules(ledger)];
  const list = listCatalog(catalogMemory({ read: async () => snapshot() }, clock), shown, clock);
  const callerOf = async (route: "listCatalog" | "buyData") => {
    const request = callRequest(apiEvent.parse(anApiEvent({ headers: { authorization: `Bearer ${key}` } })));
    const admitted = await admit(routes[route], { ...request, sourceIp: "127.0.0.1" });
    if (!("caller" in admitted)) throw admitted.refusal;
    return { caller: admitted.caller, request };
  };
  let kept: { readonly catalog: Catalog; readonly etag: string; readonly freshUntilMs: number } | undefined;
  return {
    advance: (ms: number) => {
      nowMs += ms;
    },
    clock,
    /** The catalog, asked for only if the copy is not fresh. */
    shown: async (): Promise<Catalog> => {
      if (kept !== undefined && nowMs < kept.freshUntilMs) return kept.catalog;
      const { caller, request } = await callerOf("listCatalog");
      const headers = { ...(kept && { "if-none-match": kept.etag }) };
      const response = await list({ caller, request: { ...request, headers } });
      const maxAgeS = Number(/max-age=(\d+)/.exec(response.headers["cache-control"] ?? "")?.[1]);
      const body: unknown = response.statusCode === 304 ? undefined : JSON.parse(response.body ?? "");
      const fetched =
        body === undefined ? kept?.catalog : routes.listCatalog.data.parse(Reflect.get(Object(body), "data"));
      if (fetched === undefined) throw new Error("A 304 without a copy");
      kept = { catalog: fetched, etag: response.headers.etag ?? "", freshUntilMs: nowMs + maxAgeS * 1_000 };
      return fetched;
    },
    /** What a purchase of each plan debits now. */
    debits: async () => {
      const { caller } = await callerOf("buyData");
      const codes = new Map(catalog.networks.map(({ id, code }) => [id, code]));
      return Promise.all(
        catalog.data_plans.map(async ({ id, network_id, price }) => {
          const order = {
            kind: "data",
            network: codes.get(network_id),
            planId: id,
            faceKobo: koboFromNaira(price),
          } as const;
          const { amountKobo } = await priceOrder({ prices: debited, costs, ledger }, caller, order);
          return nairaFromKobo(amountKobo);
        }),
      );
    },
  };
};

test("rules that other prices of the stage leave without effect are replaced and removed, and hold up no others", async () => {
  const { accountId: account } = await operator.anAccount();
  const { rule } = await set(account, { kind: "nin_verification", amount_kobo: 100_00 });
  const identityPrices = parseIdentityPrices(
    JSON.stringify({
      nin: { basic: 150, advanced: 350, retrieve: 400 },
      bvn: { basic: 100, advanced: 200, retrieve: 300 },
    }),
  );
  const context = { ...contextAt(), identityPrices };
  const airtime = { account, kind: "airtime", percent: -2, why: "contract" } as const;
  expect(await pricesRuns["prices set"](context, airtime)).toMatchObject({ rule: { state: "in force" } });
  const tooMuch = { account, kind: "bvn_verification", amount_kobo: 100_00, why: "contract" } as const;
  await expect(pricesRuns["prices set"](context, tooMuch)).rejects.toThrow("by BVN must cost more");
  await pricesRuns["prices remove"](context, { account, rule_id: rule.rule_id, why: "no effect" });
  const { rules } = await pricesRuns["prices list"](context, { account });
  expect(rules.map(({ kind }) => kind)).toEqual(["airtime"]);
});

test("the end of a rule does not end one that replaces it before that, also if it is removed twice", async () => {
  const { accountId: account } = await operator.anAccount();
  const { rule } = await set(account, { percent: -2 });
  const { rule: other } = await set(account, { plan_id: 101, percent: -1 });
  await createKey(contextAt().accounts, account, { mode: "live" });
  const replacedAt = isoTime(NOON_MS + PRICE_LEAD_MS);
  const { rule: next } = await set(account, { percent: -3, from: replacedAt });
  const remove = (rule_id: string, nowMs: number) =>
    pricesRuns["prices remove"](contextAt(nowMs), { account, rule_id, why: "ended" });
  expect(await remove(rule.rule_id, NOON_MS + 60_000)).toMatchObject({ ends_at: replacedAt });
  const ends_at = isoTime(NOON_MS + 60_000 + PRICE_LEAD_MS);
  expect(await remove(other.rule_id, NOON_MS + 60_000)).toMatchObject({ ends_at });
  expect(await remove(other.rule_id, NOON_MS + 120_000)).toMatchObject({ ends_at });
  const { rules } = await pricesRuns["prices list"](contextAt(NOON_MS + 3 * PRICE_LEAD_MS), { account });
  expect(rules.map(({ rule_id }) => rule_id)).toEqual([next.rule_id]);
  // Without the rule that replaces it, the removed one ends nevertheless.
  await remove(next.rule_id, NOON_MS + 180_000);
  const left = await pricesRuns["prices list"](contextAt(NOON_MS + 3 * PRICE_LEAD_MS), { account });
  expect(left.rules).toEqual([]);
});

test("an end that is to come does not end a rule that begins before it", async () => {
  const { accountId: account } = await operator.anAccount();
  const { rule } = await set(account, { percent: -2 });
  await createKey(contextAt().accounts, account, { mode: "live" });
  await pricesRuns["prices remove"](contextAt(), { account, rule_id: rule.rule_id, why: "ended" });
  // By an instance whose clock is behind that of the one that ended the rule.
  const { rule: next } = await set(account, { percent: -3 }, NOON_MS - 1_000);
  const { rules } = await pricesRuns["prices list"](contextAt(NOON_MS + 2 * PRICE_LEAD_MS), { account });
  expect(rules.map(({ rule_id }) => rule_id)).toEqual([next.rule_id]);
});

test("the price that an app shows is debited, whatever is set or removed and when, also from its copy of the catalog", async () => {
  const step = fc.oneof(
    fc.record({
      kind: fc.constant("set" as const),
      selector: fc.constantFrom({}, { network: "mtn" }, { plan_id: 101 }, { plan_id: 301 }),
      percent: fc.integer({ min: -500, max: 500 }).map((hundredths) => hundredths / 100),
      laterMs: fc.constantFrom(0, 1_000, 3_600_000),
    }),
    fc.record({ kind: fc.constant("remove" as const), index: fc.nat(5) }),
    fc.record({
      kind: fc.constant("wait" as const),
      ms: fc.constantFrom(1, 59_000, 61_000, 3_540_000, 3_600_000, 3_661_000),
    }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 16 }), async (steps) => {
      const { accountId: account } = await operator.anAccount();
      const app = await anApp(account);
      for (const each of steps) {
        const nowMs = app.clock();
        if (each.kind === "wait") app.advance(each.ms);
        if (each.kind === "set") {
          const from = isoTime(nowMs + PRICE_LEAD_MS + each.laterMs);
          await set(account, { ...each.selector, percent: each.percent, from, below_cost: true }, nowMs);
        }
        if (each.kind === "remove") {
          const { rules } = await pricesRuns["prices list"](contextAt(nowMs), { account });
          const rule = rules[each.index % Math.max(1, rules.length)];
          if (rule)
            await pricesRuns["prices remove"](contextAt(nowMs), { account, rule_id: rule.rule_id, why: "ended" });
        }
        const shown = await app.shown();
        expect(shown.data_plans.map(({ price }) => price)).toEqual(await app.debits());
      }
    }),
    { numRuns: 20 },
  );
});

test("an account without rules reads nothing for its prices, and one with rules once for each change", async () => {
  const { accountId: account } = await operator.anAccount();
  const prices = priceRules(operator.ledgerAt());
  const calls = async (priceList?: number) => {
    const made: string[] = [];
    await recordCalls({ canned: {}, onCall: ({ operation }) => void made.push(operation) }, () =>
      prices({ accountId: account, priceList }),
    );
    return made.length;
  };
  expect(await calls()).toBe(0);
  await set(account, { percent: -1 });
  expect([await calls(1), await calls(1)]).toEqual([1, 0]);
  await set(account, { percent: -2 });
  expect([await calls(2), await calls(2), await calls(1)]).toEqual([1, 0, 0]);
  await expect(prices({ accountId: account, priceList: 3 })).rejects.toThrow(/run keys reconcile/);
  await expect(prices({ accountId: `acc_${randomUUID()}`, priceList: 1 })).rejects.toThrow(/keys reconcile/);
});
