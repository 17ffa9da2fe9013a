import { scheduledFunctions } from "../../../infra/schedules.ts";
import { routes } from "../../../shared/contract/routes.ts";
import { MINUTE_MS } from "../../../shared/contract/values/durations.ts";
import { markdownTable } from "../../../tools/markdown/markdown.ts";
import { anOrder } from "../../builders/service/service.ts";
import { closeTestAccount, recover } from "../recovery.ts";
import { advance, now, simulate } from "../system/clock.ts";
import { canHit, type Effect, type Fault } from "../system/effects.ts";
import type { System } from "../system/system.ts";
import { type AppEndpoint, openTestAccount } from "../test-account.ts";
import { alarmsIn, shownAlarm, urgencyOf, withStage } from "./observed-alarms.ts";

const HOUR_MINUTES = 60;
const WALLET_NAIRA = 100_000;
/** What ends by itself needs nobody; a longer one needs a person, unless it is an app's own. */
const SHORT_MINUTES = 3;
const LONG_MINUTES = 30;
/** In which what an outage left behind is caught up on. */
const CATCH_UP_MINUTES = 5;

/** A place that fails for some minutes in one way, at the beginning of a time in which an order comes each minute. */
export type Outage = { readonly place: Effect["place"]; readonly fault: Fault; readonly minutes: number };

/** Each alarm that notified a person, with the minute in which it was raised first. */
export type OutageResult = Outage & { readonly alarms: ReadonlyMap<string, number> };

const outage = (place: Outage["place"], fault: Fault): readonly Outage[] =>
  [SHORT_MINUTES, LONG_MINUTES].map((minutes) => ({ place, fault, minutes }));

export const databaseOutages = outage("dynamodb", "throttled");
export const allOutages: readonly Outage[] = [
  ...databaseOutages,
  ...outage("upstream", "answer_lost"),
  ...outage("upstream", "throttled"),
  ...outage("sqs", "never_arrives"),
  ...outage("secrets", "throttled"),
  ...outage("receiver", "never_arrives"),
];

/** `minutesOf`: how long each is observed. `laterEvery`: minutes from one order to the next, once an outage is caught up on. */
export const runOutages = (
  outages: readonly Outage[],
  minutesOf: (outage: Outage) => number = () => HOUR_MINUTES,
  laterEvery = 1,
): Promise<readonly OutageResult[]> =>
  withStage(async (system, endpoint) => {
    const results: OutageResult[] = [];
    for (const each of outages) {
      results.push({ ...each, alarms: await runOutage(system, endpoint, each, minutesOf(each), laterEvery) });
    }
    return results;
  });

const runOutage = async (
  system: System,
  endpoint: AppEndpoint,
  { place, fault, minutes }: Outage,
  observedMinutes: number,
  laterEvery: number,
): Promise<ReadonlyMap<string, number>> => {
  await system.fleet.revive();
  advance(3 * HOUR_MINUTES * MINUTE_MS);
  await system.runSchedule("refresh-catalog");
  const account = await openTestAccount(system, endpoint, WALLET_NAIRA);
  // Other processes have the secrets in memory.
  if (place === "secrets") system.fleet.end();
  const beginMs = now();
  for (let minute = 0; minute < observedMinutes; minute += minute < minutes + CATCH_UP_MINUTES ? 1 : laterEvery) {
    const isFailing = minute < minutes;
    system.weather = (effect) => (isFailing && effect.place === place && canHit(effect, fault) ? fault : undefined);
    await account.send(routes.buyData, { ...anOrder(), reference: `order-${minute}` });
    for (const schedule of scheduledFunctions) await system.runSchedule(schedule);
    await simulate(async () => {
      // A change is enqueued by the first, and delivered by the second.
      for (let poll = 0; poll < 2; poll += 1) {
        await system.eventSources.poll();
        await system.eventSources.polled();
      }
    });
    advance(Math.max(0, beginMs + (minute + 1) * MINUTE_MS - now()));
  }
  const alarms = new Map<string, number>();
  for (const { alarm, atMs } of alarmsIn(system.observed, beginMs, now())) {
    if (!alarms.has(alarm)) alarms.set(alarm, Math.round((atMs - beginMs) / MINUTE_MS));
  }
  await recover(account, "assisted");
  await closeTestAccount(account);
  return alarms;
};

/** What breaks the rules: a page for a short outage, or nothing that tells of a long one which is not an app's own. */
export const brokenOutageRules = (results: readonly OutageResult[]): readonly string[] =>
  results.flatMap(({ place, fault, minutes, alarms }) => {
    const what = `${place} ${fault} for ${minutes} minutes`;
    const names = [...alarms.keys()];
    if (place === "receiver") return names.map((alarm) => `${what}: ${alarm} is raised for an app's own outage`);
    if (minutes === LONG_MINUTES) return names.length > 0 ? [] : [`${what}: nobody hears of it`];
    const pages = names.filter((alarm) => urgencyOf(alarm) === "page");
    return pages.map((alarm) => `${what}: ${alarm} pages, and nobody must act`);
  });

const places: Readonly<Partial<Record<Effect["place"], string>>> = {
  dynamodb: "DynamoDB",
  upstream: "the upstream",
  sqs: "SQS",
  secrets: "Secrets Manager, and each process is new",
  receiver: "an app's endpoint",
};

/** The alarms of each outage, with the minute in which each was raised. */
export const outageTable = (results: readonly OutageResult[]): string =>
  markdownTable([
    ["what fails", "every call meets", "minutes", "alarms, with the minute in which they are raised"],
    ...results.map(({ place, fault, minutes, alarms }) => {
      const shown = new Map([...alarms].map(([alarm, minute]) => [shownAlarm(alarm), minute]));
      const list = [...shown].map(([alarm, minute]) => `${alarm} ${minute}`).join(", ") || "none";
      return [places[place] ?? place, `\`${fault}\``, String(minutes), list];
    }),
  ]);
