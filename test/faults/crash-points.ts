import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { offsetsOf } from "../builders/run/sample.ts";
import { upstreamKind as chosenUpstream, type UpstreamKind } from "../builders/upstream/upstream-kind.ts";
import { type StrictName, strictSettings } from "../strict/settings.ts";
import { keptPersonalData, transactionsOf, violations } from "./invariants.ts";
import { closeTestAccount, type Recovery, recover, recoveries } from "./recovery.ts";
import { type Scenario, scenarios } from "./scenarios.ts";
import { advance } from "./system/clock.ts";
import { canHit, type Effect, type Fault, faults, isFreezeEffect } from "./system/effects.ts";
import { type AwsCalls, type System, startSystem } from "./system/system.ts";
import { type AppEndpoint, accountsOf, openAppEndpoint, openTestAccount, type TestAccount } from "./test-account.ts";

let system: System;
let endpoint: AppEndpoint;

/** After this long whatever a process keeps in memory has expired. */
const MEMORY_MS = 6 * 60_000;

const begin = async ({ prepare }: Scenario): Promise<TestAccount> => {
  await system.fleet.revive();
  advance(MEMORY_MS);
  const account = await openTestAccount(system, endpoint);
  await prepare?.(account);
  return account;
};

/** How AWS behaves in a run: a setting, and the seed of its decisions. */
type Aws = { readonly setting: StrictName; readonly seed: number };

const statusesOf = async (account: TestAccount): Promise<readonly string[]> => {
  const transactions = await Promise.all(accountsOf(account).map(transactionsOf));
  return transactions.flat().map(({ status }) => status);
};

/** The effects of a run without faults, in order; undefined where AWS gave it other statuses than the expected. */
const effectsOf = async (scenario: Scenario, { setting, seed }: Aws): Promise<readonly Effect[] | undefined> => {
  const account = await begin(scenario);
  system.setStrict(strictSettings[setting], seed);
  const effects: Effect[] = [];
  system.plan = (effect) => {
    effects.push(effect);
    return undefined;
  };
  await scenario.act(account);
  const atOnce = await statusesOf(account);
  await recover(account, "unassisted");
  // Where indexes lag, an event is applied when it is retried.
  const actual = setting === "perfect" ? atOnce : await statusesOf(account);
  expect(await violations(account), `seed of AWS ${seed}`).toEqual([]);
  await closeTestAccount(account);
  system.setStrict(undefined, 0);
  if (setting === "perfect") expect(actual).toEqual(scenario.statuses);
  return isDeepStrictEqual(actual, scenario.statuses) ? effects : undefined;
};

const SEEDS_MAX = 20;

/** The first seed from this one on that gives the expected statuses, with the effects. */
const runWithoutFault = async (scenario: Scenario, { setting, seed }: Aws) => {
  for (let next = seed; next < seed + SEEDS_MAX; next += 1) {
    const effects = await effectsOf(scenario, { setting, seed: next });
    if (effects !== undefined) return { effects, aws: { setting, seed: next } };
  }
  throw new Error(`Under "${setting}", none of ${SEEDS_MAX} seeds gives the expected statuses`);
};

/**
 * Chooses the effects that a fault can hit. Of queries in a row only the first: nothing has changed before the next one,
 * which the same code sends.
 */
const choiceOf = (fault: Fault): ((effect: Effect) => boolean) => {
  let previous: string | undefined;
  return (effect) => {
    const isRepeated = effect.name.startsWith("Query") && effect.name === previous;
    previous = effect.name;
    return !isRepeated && canHit(effect, fault);
  };
};

/** Runs the scenario with a fault at one of the effects that it can hit. `met` is false where AWS caused fewer effects than before. */
const runWithFault = async (
  scenario: Scenario,
  { setting, seed }: Aws,
  at: number,
  fault: Fault,
  recovery: Recovery,
): Promise<{ readonly met: boolean; readonly wrong: readonly string[] }> => {
  const account = await begin(scenario);
  system.setStrict(strictSettings[setting], seed);
  let count = 0;
  const isChosen = choiceOf(fault);
  system.plan = (effect) => {
    if (!isChosen(effect)) return undefined;
    count += 1;
    return count === at + 1 ? fault : undefined;
  };
  await scenario.act(account);
  const met = count > at;
  // Which connections of a frozen process are open depends on the runs before.
  const mustMeet = setting === "perfect" && !isFreezeEffect(fault);
  const missed = mustMeet && !met ? [`There were only ${count} effects`] : [];
  // A connection that ended while its process was frozen changes no result.
  const isHarmless = setting === "perfect" && isFreezeEffect(fault);
  const statuses = isHarmless ? await statusesOf(account) : scenario.statuses;
  if (!isDeepStrictEqual(statuses, scenario.statuses)) missed.push(`The statuses are ${statuses.join()}`);
  await recover(account, recovery);
  const wrong = [...missed, ...(await violations(account))];
  await closeTestAccount(account);
  system.setStrict(undefined, 0);
  return { met, wrong };
};

/** Which faults a run has, and the recoveries after each. */
export type Extent = Partial<Readonly<Record<Fault, readonly Recovery[]>>>;
/** Both recoveries where a fault leaves something undone. */
export const everything: Extent = {
  dies_before: recoveries,
  dies_after: recoveries,
  dies_writing: ["assisted"],
  throttled: ["assisted"],
  conflict: ["assisted"],
  never_arrives: recoveries,
  answer_lost: recoveries,
  lands_late: recoveries,
  fin: ["assisted"],
  rst: ["assisted"],
  forgotten: ["assisted"],
  swallowed: ["assisted"],
};

/** An upstream that refuses what its document does not show, and a sloppy one. */
export const otherUpstreams = [
  { manner: "strict", references: "documented" },
  { manner: "sloppy", references: "all" },
] as const satisfies readonly UpstreamKind[];

/** How many cases a scenario had, by fault. */
export type Count = {
  readonly scenario: string;
  readonly setting: StrictName;
  readonly seed: number;
  readonly effects: number;
  readonly cases: Map<Fault, number>;
  /** Those in which the effect to be hit did not happen. */
  readonly unmet: number;
};

export type CrashPoints = {
  readonly extent: Extent;
  readonly settings: readonly StrictName[];
  /** The seed of AWS's decisions. */
  readonly seed: number;
  /** Only every n-th effect is hit; the seed chooses the first. */
  readonly every?: number;
  /** The same for long scenarios. */
  readonly everyOfLong?: number;
  /** Only scenarios whose name begins so. */
  readonly scenariosOf?: string;
  /** Only every n-th scenario of these runs, and one of fewer than n; the seed chooses the first. */
  readonly everyScenario?: number;
  /** By default the one that the environment chooses. */
  readonly upstreamKind?: UpstreamKind;
  readonly awsCalls?: AwsCalls;
  readonly report?: (count: Count) => void;
};

/**
 * Goal: money, statuses and webhooks are right wherever a process is killed, and whatever fault hits a call.
 * Method: each scenario runs once to count its effects, and then once for each effect and each fault that can hit it.
 * Then everything settles, assisted or not, and all invariants are checked. In all cases of a scenario AWS has the same
 * seed, so that it does the same until the fault.
 */
export const crashPoints = ({
  extent,
  settings,
  seed,
  every = 1,
  everyOfLong = every,
  scenariosOf = "",
  everyScenario = 1,
  upstreamKind = chosenUpstream,
  awsCalls = "short",
  report = () => {},
}: CrashPoints): void => {
  const chosen = faults.filter((fault) => extent[fault] !== undefined);
  const named = Object.entries(scenarios).filter(([name]) => name.startsWith(scenariosOf));
  const scenarioStep = Math.min(everyScenario, named.length);
  const [firstScenario] = offsetsOf(seed, [scenarioStep]);
  const sampled = named.filter((_, at) => at % scenarioStep === firstScenario);
  const runs = settings.flatMap((setting) => sampled.map(([name, scenario]) => ({ name, setting, scenario })));

  const { manner, references } = upstreamKind;
  describe.each(runs)(
    `$name (AWS: $setting, ${awsCalls} calls; upstream: ${manner}, reference: ${references})`,
    ({ name, setting, scenario }) => {
      let effects: readonly Effect[] = [];
      let aws: Aws = { setting, seed };
      let unmet = 0;
      const cases = new Map<Fault, number>();
      beforeAll(async () => {
        system = await startSystem({ upstreamKind, awsCalls });
        endpoint = await openAppEndpoint();
        await system.runSchedule("refresh-catalog");
      });
      afterAll(async () => {
        await endpoint.stop();
        await system.stop();
        report({ scenario: name, setting, seed: aws.seed, effects: effects.length, cases, unmet });
      });

      test(`${name} without a fault gives the expected statuses`, async () => {
        // The first run may still fetch what later ones find in memory.
        await effectsOf(scenario, { setting: "perfect", seed });
        ({ effects, aws } = await runWithoutFault(scenario, aws));
        expect(effects.length).toBeGreaterThan(0);
      });

      test.each(chosen)(`${name} keeps every invariant, whichever effect %s`, async (fault) => {
        expect(effects, "the test without a fault comes first").not.toHaveLength(0);
        const found: string[] = [];
        const step = scenario.isLong ? everyOfLong : every;
        const [, firstEffect] = offsetsOf(seed, [scenarioStep, step]);
        for (const [at, effect] of effects.filter(choiceOf(fault)).entries()) {
          if (at % step !== firstEffect) continue;
          for (const help of extent[fault] ?? []) {
            cases.set(fault, (cases.get(fault) ?? 0) + 1);
            const { met, wrong } = await runWithFault(scenario, aws, at, fault, help);
            if (!met) unmet += 1;
            const place = `effect ${at + 1} (${effect.place} ${effect.name}), ${help} helps, seed ${aws.seed}`;
            found.push(...wrong.map((what) => `${place}: ${what}`));
          }
        }
        expect(found).toEqual([]);
      });

      test(`${name} leaves no personal data in the tables`, async () => {
        expect(await keptPersonalData(system)).toEqual([]);
      });
    },
  );
};
