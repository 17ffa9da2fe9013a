import { expect, test } from "vitest";
import { functionNames } from "../../infra/functions.ts";
import { evaluatedCalls } from "../builders/iam/evaluated-calls.ts";
import { runTraffic } from "./mixed-load/traffic.ts";
import { weather } from "./mixed-load/weather.ts";
import { metRealities, realities } from "./system/realities.ts";

/**
 * Goal: no guarantee is violated, whatever happens at once. Method: some minutes of traffic in simulated time, in which
 * each reality of the fault world happens, and each call of a function to AWS is evaluated with the policies of its role.
 * `npm run test:faults` has an hour of it, with several seeds.
 */
const MINUTES = 4;
/** More minutes follow as long as a reality is missing. */
const MORE_MINUTES_MAX = 60;
/** It decides the whole course. */
const SEED = Number(process.env.MODEL_SEED ?? 7);
/**
 * They have no table, no queue and no secret, or work for people: `operator-policies.test.ts` has those calls. Traffic of
 * callers makes no audit entries, so that `attest-audit` and `copy-audit` have none to read: `attest-entries.test.ts` and
 * `copy-bucket.test.ts` have their calls.
 */
const SILENT = [
  "serve-docs",
  "not-found",
  "console-api",
  "reconcile-statement",
  "answer-subjects",
  "serve-console",
  "attest-audit",
  "copy-audit",
];

test(`some minutes of traffic violate no guarantee, and each reality of the fault world happens in them (seed ${SEED})`, async () => {
  evaluatedCalls.clear();
  const missing = () => realities.filter((reality) => !metRealities().has(reality));
  let moreMinutes = 0;
  const goesOn = (): boolean => {
    moreMinutes += 1;
    return moreMinutes <= MORE_MINUTES_MAX && missing().length > 0;
  };
  const { counts, violations } = await runTraffic({
    ...{ minutes: MINUTES, seed: SEED, ordersAMinute: 6, goesOn },
    disturb: weather,
  });
  expect(violations).toEqual([]);
  expect(missing()).toEqual([]);
  expect(functionNames.filter((name) => !evaluatedCalls.has(name))).toEqual(SILENT);
  expect(counts.delivered).toBeGreaterThan(0);
  expect(counts.refunded).toBeGreaterThan(0);
});
