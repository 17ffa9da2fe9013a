import { expect, test } from "vitest";
import { alarmTable, brokenRules, runCases } from "../../test/faults/alarms/fault-alarms.ts";
import { allOutages, brokenOutageRules, outageTable, runOutages } from "../../test/faults/alarms/outages.ts";
import { faults } from "../../test/faults/system/effects.ts";

test("no outage breaks a rule of alarms", { timeout: 3_600_000 }, async () => {
  const results = await runOutages(allOutages);
  console.info(outageTable(results));
  expect(brokenOutageRules(results)).toEqual([]);
});

test("no fault in any scenario breaks a rule of alarms", { timeout: 3_600_000 }, async () => {
  const results = await runCases((hitting) => faults.filter(hitting));
  console.info(alarmTable(results));
  expect(brokenRules(results)).toEqual([]);
});
