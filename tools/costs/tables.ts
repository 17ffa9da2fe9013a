import { markdownTable, wrap } from "../markdown/markdown.ts";
import { budgets } from "./budgets.ts";
import { consoleRestCost, frontCosts, requestCosts, requestServices, restCosts } from "./costs.ts";
import { floodCosts } from "./floods.ts";
import { dollarsOf, priceNames, prices } from "./prices.ts";
import { recoveryCosts, replicaUsage, standbyAddressUsage } from "./recovery.ts";
import { assumed } from "./request-usage.ts";

const usd = (dollars: number): string => (dollars === 0 ? "" : dollars.toFixed(2));

export const requestCostTable = (): string => {
  const table = markdownTable([
    ["a million requests", ...requestServices, "USD", "each 100 ms of waiting"],
    ...requestCosts().map(({ title, dollars, total, waiting }) => [
      title,
      ...requestServices.map((service) => usd(dollars[service] ?? 0)),
      usd(total),
      usd(waiting),
    ]),
  ]);
  const { tables, indexes } = budgets.waitingPurchase.writeUnits;
  return [
    table,
    wrap(`A purchase that waits for the upstream's limit costs "${budgets.waitingPurchase.title}" instead, at most: orders
      that are sent in the same run share most of its reads and 2 of the ${tables + indexes} write units, and those of one
      account another 4.`),
  ].join("\n\n");
};

/** The assumptions behind the costs of requests. */
export const assumptions = (): string => {
  const { runMs, callMs, waitMs, exchangeBytes } = assumed;
  return wrap(`Assumed, because only an AWS account can measure it: ${runMs} ms for a function, ${callMs} ms for each
    of its calls to DynamoDB, SQS and KMS, ${waitMs.upstream} ms for the upstream's response, ${waitMs.endpoint} ms for a
    webhook endpoint's, and ${exchangeBytes.through} bytes through the NAT gateway for each of these exchanges, of which
    ${exchangeBytes.out} go out.`);
};

export const restCostTable = (): string => {
  const costs = restCosts();
  const titles = costs[0]?.parts.map(({ title }) => title) ?? [];
  const table = markdownTable([
    ["a month, by `egress`", ...costs.map(({ egress }) => egress)],
    ...titles.map((title) => [
      title,
      ...costs.map(({ parts }) => usd(parts.find((part) => part.title === title)?.dollars ?? 0)),
    ]),
    ["USD", ...costs.map(({ total }) => usd(total))],
  ]);
  const { alarms, dollars } = consoleRestCost();
  return `${table}

A console adds ${alarms} alarms and a function that runs each minute, which cost ${usd(dollars)} USD a month.`;
};

export const floodCostTable = (): string =>
  markdownTable([
    ["who", "requests a second, at most", "each", "USD a day"],
    ...floodCosts().map(({ attacker, requestsPerSecond, each, dollars }) => [
      attacker,
      requestsPerSecond.toLocaleString("en"),
      each,
      usd(dollars),
    ]),
  ]);

export const frontCostTable = (): string =>
  markdownTable([
    ["`front`", "a month at rest", "a million live purchases", "a million requests of strangers"],
    ...frontCosts().map(({ front, rest, purchases, strangers }) => [front, usd(rest), usd(purchases), usd(strangers)]),
  ]);

export const recoveryCostTable = (): string =>
  [
    markdownTable([
      [
        "`everyHours`",
        "GB of backups kept, both regions",
        "GB copied a month",
        "USD a month",
        "with another account in the stage's region, in addition",
        "with another account in another region, in addition",
      ],
      ...recoveryCosts().map(({ everyHours, usage, dollars, otherAccount }) => [
        String(everyHours),
        String(usage.backupGbMonths),
        (usage.copiedGb ?? 0).toFixed(0),
        usd(dollars),
        usd(otherAccount.sameRegion),
        usd(otherAccount.otherRegion),
      ]),
    ]),
    wrap(`The replicas of the keys cost ${usd(dollarsOf(replicaUsage()))} a month, the alarm on backups
      ${usd(dollarsOf({ alarms: 1 }))}, and each elastic IP that is allocated there in advance
      ${usd(dollarsOf(standbyAddressUsage()))}, because an idle address costs as much as one in use. Each key of
      \`vaultKeyArns\` costs ${usd(dollarsOf({ keys: 1 }))} a month, and as much again for each of its first two rotations.`),
  ].join("\n\n");

export const priceTable = (): string =>
  markdownTable([
    ["service", "USD", "unit", "source", "dated", "read on"],
    ...priceNames.map((name) => {
      const { service, dollars, per, unit, source } = prices[name];
      const amount = per === 1 ? unit : `${per.toLocaleString("en")} ${unit}`;
      return [service, String(dollars), amount, `[${source.kind}](${source.url})`, source.dated, source.read];
    }),
  ]);
