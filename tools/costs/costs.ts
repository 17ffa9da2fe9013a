import { sum } from "../../shared/platform/sum.ts";
import { egressSettings, monthlyUsageAtRest } from "./at-rest.ts";
import { type Budget, budgets } from "./budgets.ts";
import { type AwsService, dollarsOf, MILLION, type Usage } from "./prices.ts";
import { type Batches, times, usageOf, usageOfWaiting } from "./request-usage.ts";

/** The services that are paid per request; the others are paid per month. */
export const requestServices: readonly AwsService[] = [
  "API Gateway",
  "Lambda",
  "DynamoDB",
  "SQS",
  "CloudWatch",
  "Network",
  "KMS",
];

type RequestCost = {
  readonly title: string;
  readonly usage: Usage;
  /** USD by service. */
  readonly dollars: Readonly<Record<string, number>>;
  readonly total: number;
  /** For each 100 ms that an outside party takes longer. */
  readonly waiting: number;
};

/** USD per million requests of each kind. */
export const requestCosts = (): readonly RequestCost[] => {
  const { schedules: _schedules, ...requests } = budgets;
  return Object.values<Budget>(requests).flatMap((budget) => {
    const { title, invocations } = budget;
    const isBatched = invocations.some(({ batch }) => batch !== undefined);
    return [
      costOf(title, budget, "alone"),
      ...(isBatched ? [costOf(`${title}, in full batches`, budget, "full")] : []),
    ];
  });
};

const costOf = (title: string, budget: Budget, batches: Batches): RequestCost => {
  const usage = times(usageOf(budget, batches), MILLION);
  return {
    title,
    usage,
    dollars: Object.fromEntries(requestServices.map((service) => [service, dollarsOf(usage, service)])),
    total: dollarsOf(usage),
    waiting: dollarsOf(times(usageOfWaiting(budget, batches), MILLION)),
  };
};

type FrontCost = {
  readonly front: "http" | "rest" | "private";
  /** A month without any request. */
  readonly rest: number;
  /** A million live purchases. */
  readonly purchases: number;
  /** A million requests of strangers. AWS WAF inspects them before the resource policy refuses them. */
  readonly strangers: number;
};

/**
 * USD by the callers' API. What a resource policy refuses is not charged. Sources: AWS WAF, "Use AWS WAF to protect
 * your REST APIs in API Gateway"; AWS re:Post, "Will I get charged for these invalid API key, quota exceeded or
 * throttled request errors".
 */
export const frontCosts = (): readonly FrontCost[] => {
  const [purchase, malformed] = [budgets.purchase, budgets.malformedKey].map((budget) => usageOf(budget));
  const million = (usage: Usage): number => dollarsOf(times(usage, MILLION));
  const behindRest = { ...purchase, apiRequests: 0, restRequests: 1 };
  return [
    { front: "http", rest: 0, purchases: million({ ...purchase }), strangers: million({ ...malformed }) },
    {
      front: "rest",
      rest: dollarsOf({ webAcls: 1, webAclRules: 1 }),
      purchases: million({ ...behindRest, inspectedRequests: 1 }),
      strangers: million({ inspectedRequests: 1 }),
    },
    { front: "private", rest: 0, purchases: million(behindRest), strangers: 0 },
  ];
};

/** USD per month of a stage without any request, for each value of `egress`. */
export const restCosts = () =>
  Object.entries(egressSettings).map(([egress, settings]) => {
    const parts = Object.entries(monthlyUsageAtRest(settings)).map(([title, usage]) => ({
      title,
      usage,
      dollars: dollarsOf(usage),
    }));
    return { egress, parts, total: parts.reduce((sum, { dollars }) => sum + dollars, 0) };
  });

/** Example settings: no cost depends on their values. */
const someConsole = {
  issuer: "https://login.example.com",
  clientId: "console",
  operatorGroup: "operators",
  readerGroup: "readers",
};

/** What a console adds to a stage per month without any request: alarms, and USD. */
export const consoleRestCost = (): { readonly alarms: number; readonly dollars: number } => {
  const usages = (changes: object): readonly Usage[] => Object.values(monthlyUsageAtRest(egressSettings.none, changes));
  const [bare, complete] = [usages({}), usages({ console: someConsole })];
  const added = (count: (usage: Usage) => number): number => sum(complete.map(count)) - sum(bare.map(count));
  return { alarms: added(({ alarms = 0 }) => alarms), dollars: added((usage) => dollarsOf(usage)) };
};
