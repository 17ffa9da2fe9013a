import { type StageSettings, settingsOf } from "../../infra/stage-settings.ts";
import { errors } from "../../shared/contract/errors.ts";
import { stages } from "../../stages.ts";
import { markdownTable, wrap } from "../markdown/markdown.ts";
import { limitTitle, type Remedy, type Symptom, type UsedLimit } from "./limit.ts";
import {
  accountCounts,
  cells,
  type LimitLoads,
  limitLoads,
  loads,
  monthlyDollars,
  purchasesAt,
  steps,
} from "./limit-loads.ts";
import type { PlaceLoad } from "./load-model.ts";
import { purchaseBudgets } from "./usage.ts";

/** The document is about this stage's settings. */
export const settings: StageSettings = settingsOf("prod", stages);

const whole = (value: number): string => Math.floor(value).toLocaleString("en");
const UNREACHED = 1_000_000;
/** Purchases a second at which a limit is reached. */
const rate = (purchasesPerS: number): string => {
  if (purchasesPerS > UNREACHED) return `over ${whole(UNREACHED)}`;
  if (purchasesPerS === 0) return "always";
  return purchasesPerS < 10 ? `${Number(purchasesPerS.toPrecision(2))}` : whole(purchasesPerS);
};
const times = (share: number): string => (share < 10 ? `${Number(share.toPrecision(2))} ×` : `${whole(share)} ×`);
const amount = (value: number): string => (value < 10 ? `${Number(value.toPrecision(2))}` : whole(value));

const firstText = ({ limit, share }: UsedLimit): string =>
  share < 1 ? `none; the next is ${limit.name}, ${times(share)}` : `${limit.name}, ${times(share)}`;

/** Which limit is reached first in each case, with its use as a multiple of its capacity. */
export const firstLimitTable = (): string =>
  markdownTable([
    ["purchases a second", "accounts", ...steps.map(([changed]) => changed)],
    ...cells(settings).map(({ load, firsts }) => [
      whole(load.purchasesPerS),
      whole(load.accounts),
      ...Object.values(firsts).map(firstText),
    ]),
  ]);

/** Every limit with its number, its source and the load at which it is reached. */
export const limitTable = (): string =>
  markdownTable([
    [
      "limit",
      "affects",
      "capacity",
      "one purchase uses",
      ...accountCounts.map((accounts) => `reached at, ${whole(accounts)} ${accounts === 1 ? "account" : "accounts"}`),
      "source",
    ],
    ...limitLoads(settings).map((row) => {
      const { affects, unit, perPurchase, source } = row.limit;
      return [
        limitTitle(row.limit),
        affects,
        `${amount(row.capacity)} ${unit}`,
        amount(perPurchase),
        ...accountCounts.map((accounts) => rate(purchasesAt(row, accounts))),
        `[${source.title}](${source.url})`,
      ];
    }),
  ]);

const code = (name: string): string => `\`${name}\``;

const symptomText = ({ text, errors: codes = [], logEvents = [], alarms = [] }: Symptom): string =>
  [
    text,
    ...(codes.length > 0
      ? [`Answers: ${codes.map((each) => `${errors[each].status} ${code(each)}`).join(", ")}.`]
      : []),
    ...(logEvents.length > 0 ? [`Log: ${logEvents.map(code).join(", ")}.`] : []),
    alarms.length > 0 ? `Alarms: ${alarms.map(code).join(", ")}.` : "No alarm.",
  ].join(" ");

const remedyText = ({ setting, text }: Remedy): string =>
  setting === undefined ? `No setting. ${text}` : `${code(setting)}. ${text}`;

/** What is seen when a limit is reached, what to change, and what that costs. */
export const remedyTable = (): string =>
  markdownTable([
    ["limit", "what is seen", "what to change", "what it costs"],
    ...limitLoads(settings).map(({ limit }) => [
      limitTitle(limit),
      symptomText(limit.symptom),
      remedyText(limit.remedy),
      limit.remedy.cost ?? "nothing",
    ]),
  ]);

export const loadCostTable = (): string =>
  markdownTable([
    ["purchases a second", ...loads.map(whole)],
    ["USD a month", ...loads.map((purchasesPerS) => whole(monthlyDollars(purchasesPerS)))],
  ]);

/** What the numbers assume, by limit. */
export const assumptionList = (): string =>
  listOf([
    `A purchase is delivered at once, and causes one ${purchaseBudgets.map(({ title }) => title).join(", one ")}. Their
      calls, units and log bytes are the budgets that tests count; their times are assumed as for the
      [costs](costs.md).`,
    "The purchases are spread evenly over accounts, keys and time.",
    ...limitLoads(settings).flatMap(({ limit }) =>
      limit.assumed === undefined ? [] : [`${limitTitle(limit)}: ${limit.assumed}.`],
    ),
  ]);

const percent = (share: number): string => `${share > 0 && share < 0.001 ? "under 0.1" : (100 * share).toFixed(1)} %`;

/** The hottest key and the busiest partition of each table and index, and what DynamoDB refused. */
export const loadTable = (loads: readonly PlaceLoad[], seconds: number): string =>
  markdownTable([
    [
      "table or index",
      "write units/s",
      "read units/s",
      "hottest key",
      "its busiest second",
      "partitions, at first and at the end",
      "busiest second of one",
      "refused units",
      "last refusal after",
    ],
    ...loads.map(({ place, table, partitionsAtFirst }) => {
      const { units, hottest, busiest, throttled, lastThrottledS, partitionCount } = table;
      return [
        place,
        whole(units.write / seconds),
        whole(units.read / seconds),
        code(hottest.key.length > KEY_LENGTH_MAX ? `${hottest.key.slice(0, KEY_LENGTH_MAX)}...` : hottest.key),
        percent(hottest.share),
        `${partitionsAtFirst}, ${partitionCount}`,
        percent(busiest),
        percent(throttled / (units.write + units.read)),
        lastThrottledS === undefined ? "" : `${lastThrottledS + 1} s`,
      ];
    }),
  ]);
const KEY_LENGTH_MAX = 30;

const NAMED = 3;

/** The answer in some points. */
export const answer = (): string => {
  const accounts = 100;
  const rows = limitLoads(settings).filter(({ limit }) => limit.affects !== "alarm only");
  const steady = rows.filter(({ limit }) => limit.onlyIf === undefined);
  const conditional = rows.filter(({ limit }) => limit.onlyIf !== undefined);
  const by = (kind: Remedy["by"]) => steady.filter(({ limit }) => limit.remedy.by === kind);
  const listed = (named: readonly LimitLoads[], count: number): string =>
    named
      .toSorted((one, other) => purchasesAt(one, count) - purchasesAt(other, count))
      .slice(0, NAMED)
      .map((row) => `at ${rate(purchasesAt(row, count))}, ${limitTitle(row.limit)}`)
      .join("; ");
  const points = [
    `**First of all: ${listed(steady.slice(0, 1), accounts)}.** Only more keys of the upstream, or an agreement, raise it.`,
    `With enough keys, here and upstream: ${listed(by("stage"), accounts)}. Settings raise them.`,
    `With settings and quotas raised: ${listed(by("code"), accounts)}. They need other code.`,
    `A single account, with enough keys: ${listed(by("accounts"), 1)}. More accounts raise them.`,
    `In some cases only: ${listed(conditional, accounts)}.`,
  ];
  return [`Purchases a second, with ${accounts} accounts:`, "", listOf(points)].join("\n");
};

const listOf = (items: readonly string[]): string =>
  items.map((text) => wrap(`- ${text}`).replaceAll("\n", "\n  ")).join("\n");
