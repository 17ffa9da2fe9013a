import { describe, expect, test } from "vitest";
import { alarmsOfBooks, booksCases } from "./alarms/books.ts";
import { type AlarmResult, brokenRules, runCases } from "./alarms/fault-alarms.ts";
import { urgencyOf } from "./alarms/observed-alarms.ts";
import { brokenOutageRules, databaseOutages, type Outage, runOutages } from "./alarms/outages.ts";
import { faults } from "./system/effects.ts";

/** Longer than an order that a short outage left open takes to raise an alarm; a long one pages while it lasts. */
const observedMinutes = ({ minutes }: Outage): number => (minutes < 10 ? 35 : 12);

/** Enough scenarios that each kind of fault hits some. */
const EVERY_SCENARIO = 4;

/**
 * Goal: no fault pages a person who has nothing to do, and what needs a person raises an alarm. Method: the alarms of the
 * stage's template are evaluated on what every fourth scenario logs and measures, with one fault of every kind in turn,
 * while nobody helps. `npm run test:faults` has every fault for every scenario.
 */
test("no fault pages a person who has nothing to do, and what needs a person raises an alarm", async () => {
  const inTurn = [...faults];
  const results = await runCases((hitting) => {
    const found = inTurn.findIndex(hitting);
    const next = found === -1 ? [] : inTurn.splice(found, 1);
    inTurn.push(...next);
    return next;
  }, EVERY_SCENARIO);
  expect(new Set(results.map(({ fault }) => fault))).toEqual(new Set([undefined, ...faults]));
  expect(results.filter(({ left }) => left.length > 0)).not.toEqual([]);
  expect(brokenRules(results)).toEqual([]);
  // One crash is repeated by what invoked the function, or leaves an open order.
  expect(results.flatMap(({ alarms }) => alarms.filter((alarm) => /^(?!Server).*Errors$/.test(alarm)))).toEqual([]);
});

/** One of the two, each run another. */
const SEED = Number(process.env.ALARMS_SEED ?? Date.now() % 1_000_000_000);

test(`an outage of DynamoDB that ends within minutes pages nobody, and one that lasts pages (seed ${SEED})`, async () => {
  const chosen = databaseOutages.filter((_, at) => at === SEED % databaseOutages.length);
  // Alarms count by five minutes.
  const results = await runOutages(chosen, observedMinutes, 5);
  expect(brokenOutageRules(results)).toEqual([]);
  const [pages] = results.map(({ alarms }) => [...alarms.keys()].some((alarm) => urgencyOf(alarm) === "page"));
  expect(pages).toBe(SEED % databaseOutages.length === 1);
});

test.each(Object.entries(booksCases))(
  "if %s, exactly the alarms that a person must act on are raised",
  async (name, { alarms }) => {
    expect(await alarmsOfBooks(name)).toEqual(alarms);
  },
);

describe("the rules of alarms", () => {
  const quiet: AlarmResult = {
    scenario: "a purchase that is delivered",
    fault: "throttled",
    nth: 0,
    left: [],
    alarms: [],
  };
  test.each<[string, Partial<AlarmResult>, number]>([
    ["nothing is left and nobody hears of it", {}, 0],
    ["nothing is left and a ticket is written", { alarms: ["PurchaseErrors"] }, 0],
    ["nothing is left and a person is paged", { alarms: ["ServerErrors"] }, 1],
    ["an order is left and nobody hears of it", { left: ["an open order"] }, 1],
    ["an order is left and a ticket is written", { left: ["an open order"], alarms: ["OpenFor15Minutes"] }, 0],
  ])("a case in which %s", (_what, changes, broken) => {
    expect(brokenRules([{ ...quiet, ...changes }])).toHaveLength(broken);
  });
});
