import { CfnBudget } from "aws-cdk-lib/aws-budgets";
import { Construct } from "constructs";

export interface MonthlyBudgetProps {
  /** USD a month, of everything in the AWS account. */
  readonly monthlyUsdMax: number;
  /** Notified when it is passed. */
  readonly alarmEmail: string;
  /** Notified before that. */
  readonly ticketEmail: string;
}

/** Writes to people when the AWS account costs more than expected. It stops nothing: decision 0016. */
export class MonthlyBudget extends Construct {
  constructor(scope: Construct, id: string, { monthlyUsdMax, alarmEmail, ticketEmail }: MonthlyBudgetProps) {
    super(scope, id);
    const notify = (notificationType: "ACTUAL" | "FORECASTED", threshold: number, address: string) => ({
      notification: { notificationType, threshold, thresholdType: "PERCENTAGE", comparisonOperator: "GREATER_THAN" },
      subscribers: [{ subscriptionType: "EMAIL", address }],
    });
    // Without a name of its own: CloudFormation replaces a budget whose addresses change, and makes the new one first.
    new CfnBudget(this, "Budget", {
      budget: {
        budgetType: "COST",
        timeUnit: "MONTHLY",
        budgetLimit: { amount: monthlyUsdMax, unit: "USD" },
      },
      notificationsWithSubscribers: [
        notify("FORECASTED", 100, ticketEmail),
        notify("ACTUAL", 80, ticketEmail),
        notify("ACTUAL", 100, alarmEmail),
      ],
    });
  }
}
