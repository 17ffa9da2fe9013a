import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { keptPersonalData, transactionsOf, violations } from "./invariants.ts";
import { type Helpers, helpers, leaveStage, recover } from "./recovery.ts";
import { type Scenario, scenarios } from "./scenarios.ts";
import { type AppEndpoint, openAppEndpoint, type Stage, setStage } from "./stage.ts";
import { canMeet, type Effect, type Fault, faults } from "./world/effects.ts";
import { openWorld, type World } from "./world/world.ts";

let world: World;
let endpoint: AppEndpoint;

const begin = async ({ prepare }: Scenario): Promise<Stage> => {
  const stage = await setStage(world, endpoint);
  await prepare?.(stage);
  return stage;
};

/** The scenario's effects, in order, when nothing disturbs it. */
const effectsOf = async (scenario: Scenario): Promise<readonly Effect[]> => {
  const stage = await begin(scenario);
  const effects: Effect[] = [];
  world.plan = (effect) => {
    effects.push(effect);
    return undefined;
  };
  await scenario.act(stage);
  const ends = (await transactionsOf(stage)).map(({ status }) => status);
  await recover(stage, "nobody");
  expect(ends).toEqual(scenario.ends);
  expect(await violations(stage)).toEqual([]);
  await leaveStage(stage);
  return effects;
};

/** The scenario with one effect disturbed. */
const runWith = async (scenario: Scenario, at: number, fault: Fault, help: Helpers): Promise<readonly string[]> => {
  const stage = await begin(scenario);
  let count = 0;
  world.plan = () => {
    count += 1;
    return count === at + 1 ? fault : undefined;
  };
  await scenario.act(stage);
  const missed = count <= at ? [`There were only ${count} effects`] : [];
  await recover(stage, help);
  const wrong = [...missed, ...(await violations(stage))];
  await leaveStage(stage);
  return wrong;
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
export type Count = { readonly scenario: string; readonly effects: number; readonly cases: Map<Fault, number> };

/**
 * Goal: money, states and announcements are right wherever a process dies, and whatever a call meets.
 * Method: each scenario is run to count its effects on the world outside, and then once for each effect and each fault that it can
 * meet; then the world comes to rest, with everybody's help or with nobody's, and all invariants are looked at.
 */
export const crashPoints = (extent: Extent, tell: (count: Count) => void = () => {}): void => {
  const chosen = faults.filter((fault) => extent[fault] !== undefined);

  describe.each(Object.entries(scenarios))("%s", (name, scenario) => {
    let effects: readonly Effect[] = [];
    const cases = new Map<Fault, number>();
    beforeAll(async () => {
      world = await openWorld();
      endpoint = await openAppEndpoint();
      await world.strike("refresh-catalog");
    });
    afterAll(async () => {
      await endpoint.stop();
      await world.stop();
      tell({ scenario: name, effects: effects.length, cases });
    });

    test("goes as its name says", async () => {
      // The first run may still fetch what later ones find in memory.
      await effectsOf(scenario);
      effects = await effectsOf(scenario);
      expect(effects.length).toBeGreaterThan(0);
    });

    test.each(chosen)("is right in the end, whichever effect %s", { timeout: 600_000 }, async (fault) => {
      const found: string[] = [];
      for (const [at, effect] of effects.entries()) {
        if (!canMeet(effect, fault)) continue;
        for (const help of extent[fault] ?? []) {
          cases.set(fault, (cases.get(fault) ?? 0) + 1);
          const wrong = await runWith(scenario, at, fault, help);
          found.push(
            ...wrong.map((what) => `effect ${at + 1} (${effect.place} ${effect.name}), ${help} helps: ${what}`),
          );
        }
      }
      expect(found).toEqual([]);
    });

    test("keeps nothing of a person's", async () => {
      expect(await keptPersonalData(world)).toEqual([]);
    });
  });
};
