import { Duration, RemovalPolicy } from "aws-cdk-lib";
import { Effect, PolicyStatement } from "aws-cdk-lib/aws-iam";
import { Architecture, LoggingFormat, Runtime } from "aws-cdk-lib/aws-lambda";
import { NodejsFunction, OutputFormat } from "aws-cdk-lib/aws-lambda-nodejs";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import type { Construct } from "constructs";
import { bundleOptions, functionEntry, projectRoot } from "../bundle/bundle.ts";
import { type FunctionName, type FunctionSpec, functionSpecs } from "../functions.ts";
import type { EgressNetwork } from "./egress-network.ts";

export interface ServiceFunctionProps {
  readonly name: FunctionName;
  /** Exactly what the function parses. */
  readonly environment: Readonly<Record<string, string>>;
  readonly logRetentionDays: number;
  readonly network?: EgressNetwork | undefined;
  readonly reservedConcurrency?: number | undefined;
}

/** One folder below functions/ as a Lambda: Node 24 on arm64, one bundle, a log group of its own. */
export class ServiceFunction extends NodejsFunction {
  readonly functionId: FunctionName;

  constructor(scope: Construct, id: string, props: ServiceFunctionProps) {
    const { name, environment, logRetentionDays, network, reservedConcurrency } = props;
    const spec: FunctionSpec = functionSpecs[name];
    super(scope, id, {
      entry: functionEntry(name),
      handler: "handler",
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: spec.memoryMb,
      timeout: Duration.seconds(spec.timeoutS),
      environment: { ...environment },
      projectRoot,
      depsLockFilePath: `${projectRoot}package-lock.json`,
      loggingFormat: LoggingFormat.TEXT,
      logGroup: new LogGroup(scope, `${id}Logs`, { retention: logRetentionDays, removalPolicy: RemovalPolicy.DESTROY }),
      bundling: {
        format: OutputFormat.ESM,
        minify: bundleOptions.minify,
        target: bundleOptions.target,
        mainFields: [...bundleOptions.mainFields],
        banner: bundleOptions.banner.js,
        bundleAwsSDK: true,
        esbuildArgs: Object.fromEntries(
          Object.entries(bundleOptions.alias).map(([from, to]) => [`--alias:${from}`, to]),
        ),
      },
      ...(reservedConcurrency !== undefined && { reservedConcurrentExecutions: reservedConcurrency }),
      ...(spec.egress && network && { vpc: network.vpc, securityGroups: [network.functions] }),
    });
    this.functionId = name;
  }

  /** Allows these actions on these resources, and no others. */
  allow(actions: readonly string[], resources: readonly string[]): void {
    this.addToRolePolicy(new PolicyStatement({ effect: Effect.ALLOW, actions: [...actions], resources: [...resources] }));
  }
}
