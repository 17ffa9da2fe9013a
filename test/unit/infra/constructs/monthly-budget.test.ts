import { expect, test } from "vitest";
import { templatesOf } from "../../../builders/templates.ts";

const budgetsOf = (changes: object) =>
  templatesOf("prod", { alarmEmail: "page@example.com", ...changes })
    .administrator.all("AWS::Budgets::Budget")
    .map(({ Properties }) => Properties);

const written = (NotificationType: string, Threshold: number, Address: string) => ({
  Notification: { NotificationType, Threshold, ThresholdType: "PERCENTAGE", ComparisonOperator: "GREATER_THAN" },
  Subscribers: [{ SubscriptionType: "EMAIL", Address }],
});

test.each([
  ["tickets@example.com", { ticketEmail: "tickets@example.com" }],
  ["page@example.com", {}],
])("AWS writes to %s before the budget is passed, and to the address of alarms then", (address, emails) => {
  const budgets = budgetsOf({ monthlyUsdMax: 200, ...emails });
  expect(budgets).toMatchObject([
    {
      Budget: {
        BudgetType: "COST",
        TimeUnit: "MONTHLY",
        BudgetLimit: { Amount: 200, Unit: "USD" },
      },
      NotificationsWithSubscribers: [
        written("FORECASTED", 100, address),
        written("ACTUAL", 80, address),
        written("ACTUAL", 100, "page@example.com"),
      ],
    },
  ]);
  // A name would stop each change of an address.
  expect(budgets).not.toMatchObject([{ Budget: { BudgetName: expect.anything() } }]);
});

test("a stage without monthlyUsdMax has no budget", () => {
  expect(budgetsOf({})).toEqual([]);
});
