import { expect, test } from "vitest";
import { stageVariants } from "../../../builders/templates/stage-variants.ts";
import { templatesOf } from "../../../builders/templates/templates.ts";

const budgetsOf = (changes: object = {}) =>
  templatesOf("prod", changes)
    .administrator.all("AWS::Budgets::Budget")
    .map(({ Properties }) => Properties);

const written = (NotificationType: string, Threshold: number, Address: string) => ({
  Notification: { NotificationType, Threshold, ThresholdType: "PERCENTAGE", ComparisonOperator: "GREATER_THAN" },
  Subscribers: [{ SubscriptionType: "EMAIL", Address }],
});

test.each([
  ["tickets@example.com", stageVariants["every setting, in an existing VPC"]?.[1]],
  ["operations@example.com", stageVariants["one zone, and a budget"]?.[1]],
])("AWS writes to %s before the budget is passed, and to the address of alarms then", (address, changes) => {
  const budgets = budgetsOf(changes);
  expect(budgets).toMatchObject([
    {
      Budget: {
        BudgetType: "COST",
        TimeUnit: "MONTHLY",
        BudgetLimit: { Amount: 1_500, Unit: "USD" },
      },
      NotificationsWithSubscribers: [
        written("FORECASTED", 100, address),
        written("ACTUAL", 80, address),
        written("ACTUAL", 100, "operations@example.com"),
      ],
    },
  ]);
  // A name would stop each change of an address.
  expect(budgets).not.toMatchObject([{ Budget: { BudgetName: expect.anything() } }]);
});

test("a stage without monthlyUsdMax has no budget", () => {
  expect(budgetsOf()).toEqual([]);
});
