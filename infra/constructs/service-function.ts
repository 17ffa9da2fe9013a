import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { AssetHashType, Duration, RemovalPolicy } from "aws-cdk-lib";
import { Metric } from "aws-cdk-lib/aws-cloudwatch";
import { Effect, PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import {
  Architecture,
  Code,
  type IFunction,
  Function as LambdaFunction,
  LoggingFormat,
  Runtime,
  Tracing,
} from "aws-cdk-lib/aws-lambda";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import type { Construct } from "constructs";
import { bundleOf, sdkBundle } from "#bundles";
import type { FunctionSpec } from "../../functions/function-spec.ts";
import { projectRoot } from "../bundle/project-root.ts";
import { SDK_FILE } from "../bundle/sdk-file.ts";
import { type FunctionName, specOf } from "../functions.ts";
import { acknowledgeWildcards } from "./acknowledge.ts";
import type { CanaryRelease } from "./canary-release.ts";
import type { FunctionNetwork } from "./egress-network.ts";

export interface ServiceFunctionProps {
  readonly stage: string;
  readonly name: FunctionName;
  /** The variables that the function parses, and no others. */
  readonly environment: Readonly<Record<string, string>>;
  readonly logRetentionDays: number;
  readonly network?: FunctionNetwork | undefined;
  readonly reservedConcurrency?: number | undefined;
  /** Absent if a new version gets all invocations at once. */
  readonly canary?: CanaryRelease | undefined;
  readonly tracing?: "active" | undefined;
}

/**
 * A condition that only Lambda's own requests with a function's role meet, such as those by which it polls: only requests of
 * the function's code name a function, also with its credentials elsewhere. Source: AWS, "Using source function ARN to control
 * function access behavior".
 */
export const NOT_BY_CODE = { Null: { "lambda:SourceFunctionArn": "true" } };

/**
 * What Lambda, and not the function's code, needs to give up a network interface; AWS authorises these without a resource. Lambda
 * does so for some time after the function has left its VPC, with the permissions that its role then has: without them the network
 * could never be deleted. Sources: AWS re:Post, "lambda-eni-find-delete"; aws/aws-cdk 34400.
 */
const NETWORK_EXIT_ACTIONS = ["ec2:DeleteNetworkInterface", "ec2:DescribeNetworkInterfaces"];
/** The same to attach it to a VPC. */
const NETWORK_INTERFACE_ACTIONS = [
  ...NETWORK_EXIT_ACTIONS,
  "ec2:AssignPrivateIpAddresses",
  "ec2:CreateNetworkInterface",
  "ec2:DescribeSubnets",
  "ec2:UnassignPrivateIpAddresses",
];

/** One folder below functions/ as a Lambda: Node 24 on arm64, one bundle, a role and a log group of its own. */
export class ServiceFunction extends LambdaFunction {
  readonly spec: FunctionSpec;
  readonly logs: LogGroup;
  /** What callers and queues invoke: the function itself, or its alias. */
  readonly invoked: IFunction;
  readonly ownRole: Role;

  constructor(scope: Construct, id: string, props: ServiceFunctionProps) {
    const { stage, name, environment, logRetentionDays, network, reservedConcurrency, canary, tracing } = props;
    const spec = specOf(name);
    const logs = new LogGroup(scope, `${id}Logs`, {
      retention: logRetentionDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    // AWS's own role would allow every log group.
    const role = new Role(scope, `${id}Role`, { assumedBy: new ServicePrincipal("lambda.amazonaws.com") });
    super(scope, id, {
      // The prefix is the stage of its metrics (shared/platform/log.ts).
      functionName: `${stage}-airtime-${name}`,
      code: bundled(name),
      handler: "index.handler",
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: spec.memoryMb,
      timeout: Duration.seconds(spec.timeoutS),
      environment: { ...environment },
      // A line of embedded metrics must reach CloudWatch as it is.
      loggingFormat: LoggingFormat.TEXT,
      logGroup: logs,
      role,
      ...(reservedConcurrency !== undefined && { reservedConcurrentExecutions: reservedConcurrency }),
      ...(spec.egress &&
        network && {
          vpc: network.vpc,
          ...(network.subnets && { vpcSubnets: network.subnets }),
          securityGroups: [network.functions],
        }),
      ...(tracing === "active" && { tracing: Tracing.ACTIVE }),
    });
    this.spec = spec;
    this.logs = logs;
    this.ownRole = role;
    this.allow(["logs:CreateLogStream", "logs:PutLogEvents"], [logs.logGroupArn]);
    if (spec.egress) this.allowLambda(network ? NETWORK_INTERFACE_ACTIONS : NETWORK_EXIT_ACTIONS);
    acknowledgeWildcards(role);
    this.invoked = spec.canary && canary ? canary.aliasOf(this) : this;
  }

  /** Allows these actions on these resources, under a condition if there is one; nothing if there is no resource. */
  allow(actions: readonly string[], resources: readonly string[], conditions: object = {}): void {
    if (resources.length === 0) return;
    this.ownRole.addToPolicy(
      new PolicyStatement({
        effect: Effect.ALLOW,
        actions: [...actions],
        resources: [...resources],
        conditions: { ...conditions },
      }),
    );
  }

  /** Source: AWS, "Giving Lambda functions access to resources in an Amazon VPC", best practice. */
  private allowLambda(actions: readonly string[]): void {
    this.allow(actions, ["*"]);
    this.ownRole.addToPolicy(
      new PolicyStatement({
        effect: Effect.DENY,
        actions: [...actions],
        resources: ["*"],
        conditions: { Null: { "lambda:SourceFunctionArn": "false" } },
      }),
    );
  }

  /** A metric of AWS about this function, over 5 minutes. */
  functionMetric(
    metricName: "Errors" | "Throttles" | "Invocations" | "IteratorAge",
    statistic: "Sum" | "Maximum",
  ): Metric {
    const dimensionsMap = { FunctionName: this.functionName };
    return new Metric({ namespace: "AWS/Lambda", metricName, statistic, dimensionsMap, period: Duration.minutes(5) });
  }

  /** Bytes that its log group ingested in an hour. */
  logBytes(): Metric {
    return new Metric({
      namespace: "AWS/Logs",
      metricName: "IncomingBytes",
      statistic: "Sum",
      dimensionsMap: { LogGroupName: this.logs.logGroupName },
      period: Duration.hours(1),
    });
  }
}

/** The bundle whose size the tests measure, and the SDK where it may be loaded. */
const bundled = (name: FunctionName): Code =>
  builtCode(`functions/${name}`, () => {
    const code = bundleOf(name);
    return { "index.mjs": code, ...(code.includes(SDK_FILE) && { [SDK_FILE]: sdkBundle() }) };
  });

/** Files that are built of a folder. The asset's hash is theirs, so that equal code is not deployed again. */
export const builtCode = (folder: string, files: () => Readonly<Record<string, string>>): Code =>
  Code.fromAsset(join(projectRoot, folder), {
    assetHashType: AssetHashType.OUTPUT,
    bundling: {
      image: Runtime.NODEJS_24_X.bundlingImage,
      local: {
        tryBundle: (output) => {
          for (const [name, text] of Object.entries(files())) writeFileSync(join(output, name), text);
          return true;
        },
      },
    },
  });
