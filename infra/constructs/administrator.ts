import { LegacyStackSynthesizer, Stack, type StackProps } from "aws-cdk-lib";
import type { Construct } from "constructs";
import { type StageSettings, sells } from "../stage-settings.ts";
import { DirectAccess } from "./direct-access.ts";
import { MonthlyBudget } from "./monthly-budget.ts";
import { OperatorPolicies, type OperatorPoliciesProps } from "./operator-policies.ts";

export interface AdministratorProps extends StackProps, OperatorPoliciesProps {
  readonly settings: StageSettings;
}

/**
 * What people may do, and what pages when they write without the service: no pipeline may change either. The stack is
 * deployed with the administrator's own credentials, because CloudFormation uses a role that was given to a stack once
 * for all later operations on it, for every caller. The template is in the request: in the bucket of the bootstrap, which the
 * pipeline may write, the CDK takes a file of its name that is there as its own. Sources: AWS, "CreateChangeSet", RoleARN; aws/aws-cdk-cli,
 * `FileAssetHandler.publish`, `makeBodyParameter`.
 */
export class Administrator extends Stack {
  constructor(scope: Construct, id: string, { stage, data, service, settings, ...props }: AdministratorProps) {
    super(scope, id, { ...props, synthesizer: new LegacyStackSynthesizer() });
    new OperatorPolicies(this, "Operators", { stage, data, service });
    if (sells(settings)) new DirectAccess(this, "DirectAccess", { stage, data, service, settings });
    const { monthlyUsdMax, alarmEmail, ticketEmail = alarmEmail } = settings;
    if (monthlyUsdMax !== undefined && alarmEmail !== undefined && ticketEmail !== undefined) {
      new MonthlyBudget(this, "Budget", { monthlyUsdMax, alarmEmail, ticketEmail });
    }
  }
}
