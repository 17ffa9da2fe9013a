import { expect, test } from "vitest";
import { HOUR_MS } from "../../shared/contract/values/durations.ts";
import { alarmTable, brokenRules, runCases } from "../../test/faults/alarms/fault-alarms.ts";
import { allOutages, brokenOutageRules, outageTable, runOutages } from "../../test/faults/alarms/outages.ts";
import { faults } from "../../test/faults/system/effects.ts";

test("no outage breaks a rule of alarms", { timeout: HOUR_MS }, async () => {
  const results = await runOutages(allOutages);
  console.info(outageTable(results));
  expect(brokenOutageRules(results)).toEqual([]);
});

test("no fault in any scenario breaks a rule of alarms", { timeout: HOUR_MS }, async () => {
  const results = await runCases((hitting) => faults.filter(hitting));
  console.info(alarmTable(results));
  expect(brokenRules(results)).toEqual([]);
});
