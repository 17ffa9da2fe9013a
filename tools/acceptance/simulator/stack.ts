import { CfnOutput, Duration, RemovalPolicy, Stack } from "aws-cdk-lib";
import { HttpApi } from "aws-cdk-lib/aws-apigatewayv2";
import { HttpLambdaIntegration } from "aws-cdk-lib/aws-apigatewayv2-integrations";
import { AttributeType, BillingMode, Table } from "aws-cdk-lib/aws-dynamodb";
import { PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Architecture, Function as LambdaFunction, Runtime } from "aws-cdk-lib/aws-lambda";
import { SqsEventSource } from "aws-cdk-lib/aws-lambda-event-sources";
import { LogGroup, RetentionDays } from "aws-cdk-lib/aws-logs";
import { Queue } from "aws-cdk-lib/aws-sqs";
import type { Construct } from "constructs";
import { simulatorBundle } from "#bundles";
import { builtCode } from "../../../infra/constructs/service-function.ts";
import { stackName } from "../../../infra/outputs.ts";
import { simulatorStackName } from "../context.ts";

/** Longer than an order takes; a message is visible again only after the function has ended. */
const TIMEOUT_S = 29;

/**
 * What a throw-away stage has instead of an upstream, a receiver of webhooks, and a queue that its alarms notify. It keeps
 * the simulator's state in a table, because simultaneous requests are handled by as many instances of the function.
 */
export class SimulatorStack extends Stack {
  constructor(scope: Construct, stage: string) {
    super(scope, simulatorStackName(stage), { description: `Simulated upstream of the throw-away stage ${stage}` });
    const table = new Table(this, "Table", {
      partitionKey: { name: "pk", type: AttributeType.STRING },
      billingMode: BillingMode.PAY_PER_REQUEST,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const events = new Queue(this, "Events", { visibilityTimeout: Duration.seconds(TIMEOUT_S + 1) });
    const logGroup = new LogGroup(this, "Logs", {
      retention: RetentionDays.ONE_WEEK,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    // AWS's own role may create log groups: a line that arrives after the deletion would make the group again.
    const role = new Role(this, "Role", { assumedBy: new ServicePrincipal("lambda.amazonaws.com") });
    role.addToPolicy(
      new PolicyStatement({
        actions: ["logs:CreateLogStream", "logs:PutLogEvents"],
        resources: [logGroup.logGroupArn],
      }),
    );
    const simulator = new LambdaFunction(this, "Function", {
      code: builtCode("tools/acceptance/simulator", () => ({ "index.mjs": simulatorBundle() })),
      handler: "index.handler",
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: 512,
      timeout: Duration.seconds(TIMEOUT_S),
      role,
      logGroup,
      environment: { SIMULATOR_TABLE: table.tableName, EVENT_QUEUE_URL: events.queueUrl },
    });
    table.grantReadWriteData(simulator);
    events.grantSendMessages(simulator);
    simulator.addEventSource(new SqsEventSource(events, { batchSize: 1 }));
    const api = new HttpApi(this, "Api", { defaultIntegration: new HttpLambdaIntegration("Simulator", simulator) });
    // The stage refuses endpoints at the host of its upstream.
    const receiver = new HttpApi(this, "ReceiverApi", {
      defaultIntegration: new HttpLambdaIntegration("Receiver", simulator),
    });

    const notifications = new Queue(this, "Notifications", { retentionPeriod: Duration.hours(1) });
    const topics = this.formatArn({ service: "sns", resource: `${stackName(stage, "Service")}-*` });
    notifications.grantSendMessages(
      new ServicePrincipal("sns.amazonaws.com", { conditions: { ArnLike: { "aws:SourceArn": topics } } }),
    );

    const outputs = {
      SimulatorUrl: `${api.apiEndpoint}/v1`,
      SimulatorTable: table.tableName,
      ReceiverUrl: `${receiver.apiEndpoint}/receiver`,
      NotificationsUrl: notifications.queueUrl,
      NotificationsArn: notifications.queueArn,
    };
    for (const [name, value] of Object.entries(outputs))
      new CfnOutput(this, `Output${name}`, { value }).overrideLogicalId(name);
  }
}
