import { Duration } from "aws-cdk-lib";
import { Alarm, Metric } from "aws-cdk-lib/aws-cloudwatch";
import {
  LambdaApplication,
  LambdaDeploymentConfig,
  LambdaDeploymentGroup,
  TimeBasedCanaryTrafficRouting,
} from "aws-cdk-lib/aws-codedeploy";
import { Effect, PolicyDocument, PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Alias, type Function as LambdaFunction, type Version } from "aws-cdk-lib/aws-lambda";
import { Construct } from "constructs";
import { FAULTS_METRIC, METRICS_NAMESPACE } from "../../shared/platform/log.ts";
import type { StageSettings } from "../stage-settings.ts";
import { acknowledge } from "./acknowledge.ts";
import { above } from "./alarms.ts";

/** The alias that API Gateway and the queues invoke. */
export const ALIAS = "current";

export interface CanaryReleaseProps {
  readonly release: Extract<StageSettings["release"], { kind: "canary" }>;
}

/**
 * Shifts the invocations of functions to a new version in two steps, by AWS CodeDeploy, and back if the new version
 * raises an alarm. Each function has a deployment of its own; CloudFormation runs them at the same time.
 */
export class CanaryRelease extends Construct {
  private readonly application: LambdaApplication;
  private readonly deploymentConfig: LambdaDeploymentConfig;
  private readonly allowed = new PolicyDocument();
  private readonly role: Role;

  constructor(scope: Construct, id: string, { release }: CanaryReleaseProps) {
    super(scope, id);
    this.application = new LambdaApplication(this, "Application");
    // Without a name, because a change of percent or minutes replaces it.
    this.deploymentConfig = new LambdaDeploymentConfig(this, "Config", {
      trafficRouting: new TimeBasedCanaryTrafficRouting({
        percentage: release.percent,
        interval: Duration.minutes(release.minutes),
      }),
    });
    // AWS's own role for CodeDeploy could change every alias of the account.
    this.role = new Role(this, "Role", {
      assumedBy: new ServicePrincipal("codedeploy.amazonaws.com"),
      inlinePolicies: { Release: this.allowed },
    });
    // Provisioned concurrency is that of an alias or of a version, and AWS does not document of which one CodeDeploy asks.
    this.allow(["cloudwatch:DescribeAlarms", "lambda:GetProvisionedConcurrencyConfig"], ["*"]);
    acknowledge(
      this.role,
      "IAM5[Resource::*]",
      "CodeDeploy asks for the states of alarms and for provisioned concurrency, and can change neither",
    );
  }

  /** The alias of a function, which points to its current version. */
  aliasOf(scope: LambdaFunction): Alias {
    const version = scope.currentVersion;
    const alias = new Alias(scope, "Alias", { aliasName: ALIAS, version });
    const { functionArn } = scope;
    this.allow(["lambda:GetAlias", "lambda:UpdateAlias"], [functionArn, `${functionArn}:${ALIAS}`]);
    // It is also the alias's update policy, so that a shift begins only when the new version has its alarms.
    new LambdaDeploymentGroup(scope, "Release", {
      application: this.application,
      alias,
      deploymentConfig: this.deploymentConfig,
      alarms: faultAlarms(scope, version),
      // CloudFormation stops the other shifts when one fails, and a person may. An alias that a stopped shift left at
      // two versions could not be shifted again.
      autoRollback: { stoppedDeployment: true },
      // The policies above are all that it needs.
      role: this.role.withoutPolicyUpdates(),
    });
    return alias;
  }

  private allow(actions: readonly string[], resources: readonly string[]): void {
    this.allowed.addStatements(
      new PolicyStatement({ effect: Effect.ALLOW, actions: [...actions], resources: [...resources] }),
    );
  }
}

/**
 * The alarms that roll a version back. They are about this version alone: one that is raised by the version before
 * would stop the deployment of its correction.
 */
const faultAlarms = (scope: LambdaFunction, { version }: Version): Alarm[] => {
  const { functionName } = scope;
  const metrics = {
    Errors: new Metric({
      namespace: "AWS/Lambda",
      metricName: "Errors",
      dimensionsMap: { FunctionName: functionName, Resource: `${functionName}:${ALIAS}`, ExecutedVersion: version },
    }),
    Faults: new Metric({
      namespace: METRICS_NAMESPACE,
      metricName: FAULTS_METRIC,
      dimensionsMap: { Function: functionName, Version: version },
    }),
  };
  return Object.entries(metrics).map(
    ([name, metric]) =>
      new Alarm(scope, `Release${name}`, {
        // The version in the name makes a new alarm for each version: one that was raised keeps its state for a while.
        alarmName: `${functionName}-release-${name.toLowerCase()}-${version}`,
        alarmDescription: "No person is notified: CodeDeploy rolls the release of this version back.",
        ...above({ metric: metric.with({ statistic: "Sum", period: Duration.minutes(1) }), threshold: 0 }),
        evaluationPeriods: 1,
      }),
  );
};
