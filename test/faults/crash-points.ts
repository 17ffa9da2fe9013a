import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type StrictName, strictSettings } from "../strict/settings.ts";
import { keptPersonalData, transactionsOf, violations } from "./invariants.ts";
import { closeTestAccount, type Helpers, helpers, recover } from "./recovery.ts";
import { type Scenario, scenarios } from "./scenarios.ts";
import { canMeet, type Effect, type Fault, faults } from "./system/effects.ts";
import { type System, startSystem } from "./system/system.ts";
import { type AppEndpoint, openAppEndpoint, openTestAccount, type TestAccount } from "./test-account.ts";

let system: System;
let endpoint: AppEndpoint;

const begin = async ({ prepare }: Scenario): Promise<TestAccount> => {
  const account = await openTestAccount(system, endpoint);
  await prepare?.(account);
  return account;
};

/** How AWS behaves in a run: a setting, and the seed of its decisions. */
type Aws = { readonly setting: StrictName; readonly seed: number };

/** The scenario's effects, in order, when nothing of ours disturbs it; undefined where AWS kept it from ending as its name says. */
const effectsOf = async (scenario: Scenario, { setting, seed }: Aws): Promise<readonly Effect[] | undefined> => {
  const account = await begin(scenario);
  system.setStrict(strictSettings[setting], seed);
  const effects: Effect[] = [];
  system.plan = (effect) => {
    effects.push(effect);
    return undefined;
  };
  const statuses = async () => (await transactionsOf(account)).map(({ status }) => status);
  await scenario.act(account);
  const endsAtOnce = await statuses();
  await recover(account, "nobody");
  // Where indexes lag, an event is applied when it is looked at again.
  const ends = setting === "perfect" ? endsAtOnce : await statuses();
  expect(await violations(account), `AWS as seed ${seed} decides`).toEqual([]);
  await closeTestAccount(account);
  system.setStrict(undefined, 0);
  if (setting === "perfect") expect(ends).toEqual(scenario.ends);
  return isDeepStrictEqual(ends, scenario.ends) ? effects : undefined;
};

const SEEDS_MAX = 20;

/** The first seed from this one on under which the scenario ends as its name says, with its effects. */
const undisturbed = async (scenario: Scenario, { setting, seed }: Aws) => {
  for (let next = seed; next < seed + SEEDS_MAX; next += 1) {
    const effects = await effectsOf(scenario, { setting, seed: next });
    if (effects !== undefined) return { effects, aws: { setting, seed: next } };
  }
  throw new Error(`Under "${setting}" the scenario does not end as its name says, with none of ${SEEDS_MAX} seeds`);
};

/** The scenario with one effect withFault. `met` is false where AWS led it another way, and it had fewer effects. */
const runWith = async (
  scenario: Scenario,
  { setting, seed }: Aws,
  at: number,
  fault: Fault,
  help: Helpers,
): Promise<{ readonly met: boolean; readonly wrong: readonly string[] }> => {
  const account = await begin(scenario);
  system.setStrict(strictSettings[setting], seed);
  let count = 0;
  system.plan = () => {
    count += 1;
    return count === at + 1 ? fault : undefined;
  };
  await scenario.act(account);
  const met = count > at;
  const missed = setting === "perfect" && !met ? [`There were only ${count} effects`] : [];
  await recover(account, help);
  const wrong = [...missed, ...(await violations(account))];
  await closeTestAccount(account);
  system.setStrict(undefined, 0);
  return { met, wrong };
};

/** Which faults a run has, and who helps after each. */
export type Extent = Partial<Readonly<Record<Fault, readonly Helpers[]>>>;
/** Somebody's help matters where something was left undone. */
export const everything: Extent = {
  dies_before: helpers,
  dies_after: helpers,
  throttled: ["everybody"],
  conflict: ["everybody"],
  never_arrives: helpers,
  answer_lost: helpers,
};

/** How many cases a scenario had, by fault. */
export type Count = {
  readonly scenario: string;
  readonly setting: StrictName;
  readonly seed: number;
  readonly effects: number;
  readonly cases: Map<Fault, number>;
  /** Those in which the effect that was to be withFault did not come. */
  readonly unmet: number;
};

export type CrashPoints = {
  readonly extent: Extent;
  readonly settings: readonly StrictName[];
  /** Decides what AWS does. */
  readonly seed: number;
  /** Only every so many-th effect is withFault, from one that the seed chooses. */
  readonly every?: number;
  readonly tell?: (count: Count) => void;
};

/**
 * Goal: money, states and announcements are right wherever a process dies, and whatever a call meets.
 * Method: each scenario is run to count its effects on the system outside, and then once for each effect and each fault that it can
 * meet; then the system comes to rest, with everybody's help or with nobody's, and all invariants are looked at. Each of AWS's
 * settings has the same seed in all cases of a scenario: what it does up to the fault is the same.
 */
export const crashPoints = ({ extent, settings, seed, every = 1, tell = () => {} }: CrashPoints): void => {
  const chosen = faults.filter((fault) => extent[fault] !== undefined);
  const runs = settings.flatMap((setting) =>
    Object.entries(scenarios).map(([name, scenario]) => ({ name, setting, scenario })),
  );

  describe.each(runs)("$name (AWS: $setting)", ({ name, setting, scenario }) => {
    let effects: readonly Effect[] = [];
    let aws: Aws = { setting, seed };
    let unmet = 0;
    const cases = new Map<Fault, number>();
    beforeAll(async () => {
      system = await startSystem();
      endpoint = await openAppEndpoint();
      await system.runSchedule("refresh-catalog");
    });
    afterAll(async () => {
      await endpoint.stop();
      await system.stop();
      tell({ scenario: name, setting, seed: aws.seed, effects: effects.length, cases, unmet });
    });

    test("goes as its name says", async () => {
      // The first run may still fetch what later ones find in memory.
      await effectsOf(scenario, { setting: "perfect", seed });
      ({ effects, aws } = await undisturbed(scenario, aws));
      expect(effects.length).toBeGreaterThan(0);
    });

    test.each(chosen)("is right in the end, whichever effect %s", { timeout: 600_000 }, async (fault) => {
      const found: string[] = [];
      for (const [at, effect] of effects.entries()) {
        if (!canMeet(effect, fault) || at % every !== seed % every) continue;
        for (const help of extent[fault] ?? []) {
          cases.set(fault, (cases.get(fault) ?? 0) + 1);
          const { met, wrong } = await runWith(scenario, aws, at, fault, help);
          if (!met) unmet += 1;
          const place = `effect ${at + 1} (${effect.place} ${effect.name}), ${help} helps, seed ${aws.seed}`;
          found.push(...wrong.map((what) => `${place}: ${what}`));
        }
      }
      expect(found).toEqual([]);
    });

    test("keeps nothing of a person's", async () => {
      expect(await keptPersonalData(system)).toEqual([]);
    });
  });
};
