import type { Source } from "./limit.ts";

const aws = (title: string, path: string): Source => ({
  title: `AWS: ${title}`,
  url: `https://docs.aws.amazon.com/${path}`,
});
const ours = (title: string, url: string): Source => ({ title, url });

const dynamoDb = "amazondynamodb/latest/developerguide";
const lambda = "lambda/latest/dg";

/** Where the numbers were read, on 2026-11-22. */
export const sources = {
  partition: aws("Warm throughput scenarios", `${dynamoDb}/warm-throughput-scenarios.html`),
  onDemand: aws("On-demand capacity mode", `${dynamoDb}/on-demand-capacity-mode.html`),
  dynamoDbQuotas: aws("Quotas in DynamoDB", `${dynamoDb}/ServiceQuotas.html`),
  streamParameters: aws("Parameters of DynamoDB event source mappings", `${lambda}/services-ddb-params.html`),
  lambdaConcurrency: aws("Understanding Lambda function scaling", `${lambda}/lambda-concurrency.html`),
  lambdaQuotas: aws("Lambda quotas", `${lambda}/gettingstarted-limits.html`),
  lambdaScaling: aws("Lambda scaling behavior", `${lambda}/scaling-behavior.html`),
  apiGatewayQuotas: aws("API Gateway quotas", "apigateway/latest/developerguide/limits.html"),
  natGateway: aws("NAT gateway basics", "vpc/latest/userguide/nat-gateway-basics.html"),
  secretsManager: aws("Secrets Manager quotas", "secretsmanager/latest/userguide/reference_limits.html"),
  cloudWatchLogs: aws("CloudWatch Logs quotas", "AmazonCloudWatch/latest/logs/cloudwatch_limits_cwl.html"),
  sqs: aws("Quotas related to queues", "AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-queues.html"),
  upstream: ours("interface, 16.1 and 6.1", "interface.md#16-upstream"),
  rateLimits: ours("interface, 6.1", "interface.md#6-rate-limits"),
  routeLimits: ours("interface, 6.D6", "interface.md#6-rate-limits"),
  queuedOrders: ours("queued orders", "scale.md#queued-orders"),
  settings: ours("settings of a stage", "deployment.md#settings"),
  busyWallets: ours("busy wallets", "reliability.md#busy-wallets"),
  reconciliation: ours("reconciliation", "reliability.md#reconciliation"),
} as const satisfies Record<string, Source>;
