import { markdownTable } from "../docs/markdown.ts";
import { requestCosts, requestServices, restCosts } from "./costs.ts";
import { priceNames, prices } from "./prices.ts";
import { assumed } from "./request-usage.ts";

const usd = (dollars: number): string => (dollars === 0 ? "" : dollars.toFixed(2));

export const requestCostTable = (): string =>
  markdownTable([
    ["a million of", ...requestServices, "USD", "each 100 ms of waiting"],
    ...requestCosts().map(({ title, dollars, total, waiting }) => [
      title,
      ...requestServices.map((service) => usd(dollars[service] ?? 0)),
      usd(total),
      usd(waiting),
    ]),
  ]);

/** What no test can count, in a sentence. */
export const assumptions = (): string => {
  const { runMs, callMs, waitMs, exchangeBytes } = assumed;
  return (
    `Assumed, for only an account on AWS can tell: ${runMs} ms for a function, ${callMs} ms for each of its calls to DynamoDB and SQS, ` +
    `${waitMs.upstream} ms until the provider has answered, ${waitMs.app} ms until an app has, and ${exchangeBytes.through} bytes ` +
    `through the NAT gateway for each of these exchanges, ${exchangeBytes.out} of them out.`
  );
};

export const restCostTable = (): string => {
  const costs = restCosts();
  const titles = costs[0]?.parts.map(({ title }) => title) ?? [];
  return markdownTable([
    ["a month, by the stage's `egress`", ...costs.map(({ egress }) => egress)],
    ...titles.map((title) => [
      title,
      ...costs.map(({ parts }) => usd(parts.find((part) => part.title === title)?.dollars ?? 0)),
    ]),
    ["USD", ...costs.map(({ total }) => usd(total))],
  ]);
};

export const priceTable = (): string =>
  markdownTable([
    ["service", "USD", "for", "read in", "which is dated", "read"],
    ...priceNames.map((name) => {
      const { service, dollars, per, unit, source } = prices[name];
      const amount = per === 1 ? unit : `${per.toLocaleString("en")} ${unit}`;
      return [service, String(dollars), amount, `[${source.kind}](${source.url})`, source.dated, source.read];
    }),
  ]);
