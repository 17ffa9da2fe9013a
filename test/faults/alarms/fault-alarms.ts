import { openEvents } from "../../../shared/upstream-events/stored-event.ts";
import { markdownTable } from "../../../tools/markdown/markdown.ts";
import { openInTable } from "../open-transactions.ts";
import { closeTestAccount, recover } from "../recovery.ts";
import { scenarios } from "../scenarios.ts";
import { advance, now } from "../system/clock.ts";
import { canHit, type Effect, type Fault } from "../system/effects.ts";
import type { System } from "../system/system.ts";
import { type AppEndpoint, openTestAccount } from "../test-account.ts";
import { alarmsIn, shownAlarm, urgencyOf, withStage } from "./observed-alarms.ts";

/** What a process keeps in memory has expired, and what happened before is out of the range of every alarm. */
const APART_MS = 90 * 60_000;
/** More than the age at which an open order is stuck. */
const LATER_MS = 31 * 60_000;

/** A scenario with one fault at its n-th effect that the fault can hit, or without one. */
type AlarmCase = { readonly scenario: string; readonly fault?: Fault | undefined; readonly nth: number };

export type AlarmResult = AlarmCase & {
  /** What only a person ends. */
  readonly left: readonly string[];
  /** Those that notified a person, each once. */
  readonly alarms: readonly string[];
};

/**
 * Runs each n-th scenario without a fault, and then with each of its faults at one of the effects that the fault can
 * hit.
 */
export const runCases = (
  /** The faults that a scenario meets, of those that can hit one of its effects. */
  faultsOf: (hitting: (fault: Fault) => boolean) => readonly Fault[],
  everyScenario = 1,
): Promise<readonly AlarmResult[]> =>
  withStage(async (system, endpoint) => {
    const results: AlarmResult[] = [];
    const chosen = Object.keys(scenarios).filter((_, at) => at % everyScenario === 0);
    for (const scenario of chosen) {
      const { effects, result } = await runCase(system, endpoint, { scenario, nth: 0 });
      results.push(result);
      const hittableBy = (fault: Fault): number => effects.filter((effect) => canHit(effect, fault)).length;
      for (const fault of faultsOf((each) => hittableBy(each) > 0)) {
        const hittable = hittableBy(fault);
        const nth = Math.floor(((results.length * GOLDEN) % 1) * hittable);
        results.push((await runCase(system, endpoint, { scenario, fault, nth })).result);
      }
    }
    return results;
  });

/** The fractions of its multiples are spread evenly. */
const GOLDEN = 0.618;

/** Nobody helps: neither the caller, nor the upstream, nor an operator. */
const runCase = async (system: System, endpoint: AppEndpoint, one: AlarmCase) => {
  const { scenario, fault, nth } = one;
  await system.fleet.revive();
  advance(APART_MS);
  const account = await openTestAccount(system, endpoint);
  await scenarios[scenario]?.prepare?.(account);
  const known = new Set((await leftIn(system)).map(({ key }) => key));
  const beginMs = now();
  const requestsBefore = system.upstream.requests.length;
  const effects: Effect[] = [];
  let hits = 0;
  system.plan = (effect) => {
    effects.push(effect);
    if (fault === undefined || !canHit(effect, fault)) return undefined;
    hits += 1;
    return hits === nth + 1 ? fault : undefined;
  };
  await scenarios[scenario]?.act(account);
  await recover(account, "unassisted");
  advance(LATER_MS);
  for (const schedule of ["reconcile-ledger", "requeue-deliveries"] as const) await system.runSchedule(schedule);
  const isBalanceSpent = system.upstream.requests
    .slice(requestsBefore)
    .some(({ outcome }) => outcome === "insufficient_balance");
  // Nothing is left open then, and yet a person must act.
  const left = [
    ...(await leftIn(system)).filter(({ key }) => !known.has(key)).map(({ what }) => what),
    ...(isBalanceSpent ? ["a spent balance at the upstream"] : []),
  ];
  const alarms = new Set(alarmsIn(system.observed, beginMs, now()).map(({ alarm }) => alarm));
  await closeTestAccount(account);
  return { effects, result: { ...one, left, alarms: [...alarms] } };
};

const leftIn = async (system: System): Promise<readonly { readonly key: string; readonly what: string }[]> => [
  ...(await openInTable(system)).map(({ pk: key }) => ({ key, what: "an open order" })),
  ...(await openEvents(system.ledger)).map(({ pk: key }) => ({ key, what: "an event to decide" })),
  ...(await system.eventSources.deadLetters()).map((key) => ({ key, what: "a dead letter" })),
];

const needsPerson = ({ left }: AlarmResult): boolean => left.length > 0;

/** What breaks the rules: a page that needs nobody, or nothing that tells a person to act. */
export const brokenRules = (results: readonly AlarmResult[]): readonly string[] =>
  results.flatMap((result) => {
    const { scenario, fault = "no fault", nth, left, alarms } = result;
    const place = `${scenario}, ${fault} at ${nth}`;
    if (needsPerson(result)) return alarms.length > 0 ? [] : [`${place}: nobody hears of ${left.join(", ")}`];
    const pages = alarms.filter((alarm) => urgencyOf(alarm) === "page");
    return pages.map((alarm) => `${place}: ${alarm} pages, and nobody must act`);
  });

/** How often each alarm was raised by each fault, in cases where nobody must act, and in the others. */
export const alarmTable = (results: readonly AlarmResult[]): string => {
  const head = ["fault", "cases", "alarms where nobody must act", "cases that need a person", "alarms in these"];
  const rows = [...Map.groupBy(results, ({ fault }) => fault)].map(([fault, all]) => {
    const { true: needed = [], false: others = [] } = Object.groupBy(all, (each) => `${needsPerson(each)}`);
    return [
      fault === undefined ? "none" : `\`${fault}\``,
      String(all.length),
      counted(others),
      String(needed.length),
      counted(needed),
    ];
  });
  return markdownTable([head, ...rows]);
};

const counted = (results: readonly AlarmResult[]): string => {
  const raised = Map.groupBy(
    results.flatMap(({ alarms }) => [...new Set(alarms.map(shownAlarm))]),
    (alarm) => alarm,
  );
  const counts = [...raised].map(([alarm, { length }]) => [alarm, length] as const);
  const sorted = counts.toSorted(([one, times], [other, otherTimes]) => otherTimes - times || one.localeCompare(other));
  return sorted.map(([alarm, times]) => `${alarm} ${times}`).join(", ") || "none";
};
