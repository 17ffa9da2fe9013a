type Variant = readonly [stage: string, changes: object];

const account = "000000000000";
const region = "us-east-1";

/** A domain in front of prod. */
export const aDomain = {
  name: "events.example.com",
  certificateArn: `arn:aws:acm:${region}:${account}:certificate/0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f`,
};

/**
 * Stages of every kind, as a committed stage and changes of its settings. What must hold for all templates is tested
 * with these; a test requires every setting.
 */
export const stageVariants: Readonly<Record<string, Variant>> = {
  sandbox: ["sandbox", {}],
  prod: ["prod", {}],
  "one zone, and a budget": ["prod", { egress: { kind: "nat-gateway", zones: ["us-east-1a"] }, monthlyUsdMax: 1_500 }],
  "three zones with addresses": [
    "prod",
    {
      egress: {
        kind: "nat-gateway",
        zones: ["us-east-1a", "us-east-1b", "us-east-1c"],
        allocationIds: ["eipalloc-0a1b2c3d", "eipalloc-0a1b2c3e", "eipalloc-0a1b2c3f"],
      },
    },
  ],
  adopted: [
    "prod",
    {
      adopt: {
        accessTableName: "access",
        ledgerTableName: "ledger",
        ledgerStreamArn: `arn:aws:dynamodb:${region}:${account}:table/ledger/stream/2026-11-22T00:00:00.000`,
        auditTableName: "audit",
        auditStreamArn: `arn:aws:dynamodb:${region}:${account}:table/audit/stream/2026-11-22T00:00:00.000`,
        referenceKeySecretArn: `arn:aws:secretsmanager:${region}:${account}:secret:reference-key-a1b2c3`,
        checksumKeySecretArn: `arn:aws:secretsmanager:${region}:${account}:secret:checksum-key-a1b2c3`,
        webhookKeySecretArn: `arn:aws:secretsmanager:${region}:${account}:secret:webhook-key-a1b2c3`,
      },
      identityKeyArn: `arn:aws:kms:${region}:${account}:key/mrk-0a1b2c3d0a1b0a1b0a1b0a1b2c3d4e5f`,
    },
  ],
  "copies in another region": [
    "prod",
    {
      recovery: {
        region: "eu-west-1",
        everyHours: 24,
        keepDays: 35,
        lockAfterDays: 3,
        otherAccountVaultArn: "arn:aws:backup:eu-west-1:999999999999:backup-vault:airtime",
        vaultKeyArns: {
          backups: `arn:aws:kms:${region}:${account}:key/0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f`,
          copies: `arn:aws:kms:eu-west-1:${account}:key/mrk-0a1b2c3d0a1b0a1b0a1b0a1b2c3d4e5f`,
        },
      },
    },
  ],
  "a REST API for callers": [
    "sandbox",
    { front: { kind: "rest", callerRanges: ["198.51.100.0/24", "2001:db8::/48"], requestsPerAddress: 600 } },
  ],
  "a private API for callers, and a domain for the others": [
    "prod",
    {
      front: { kind: "private", vpcEndpointIds: ["vpce-0a1b2c3d", "vpce-0a1b2c3e"] },
      release: { kind: "canary", percent: 10, minutes: 10 },
      domain: aDomain,
    },
  ],
  "every setting, in an existing VPC": [
    "prod",
    {
      upstreamBaseUrl: "https://upstream.example.org/v2",
      identityPrices: {
        nin: { basic: 10, advanced: 20, retrieve: 30 },
        bvn: { basic: 10, advanced: 20, retrieve: 30 },
      },
      upstreamWebhookIps: ["198.51.100.0/24"],
      upstreamProfile: {
        reference: "documented",
        signature: { header: "X-Signature", encoding: "hex" },
        lookup: { path: "/transactions/{reference}", our_reference: "client_reference" },
        balance: { path: "/wallet", object: "wallet" },
        dates: "month-first",
      },
      egress: {
        kind: "existing",
        vpcId: "vpc-0a1b2c3d",
        subnetIds: ["subnet-0a1b2c3d", "subnet-0a1b2c3e"],
        addresses: ["203.0.113.1", "203.0.113.2"],
      },
      upstreamCosts: {
        amountIs: "charged",
        discounts: [{ kind: "airtime", network: "mtn", percent: 2.5 }],
        tolerancePercent: 1,
      },
      timeZone: "Europe/London",
      airtimeMax: 10_000,
      operatorActMaxNaira: 50_000,
      fourEyes: { resolveAboveNaira: 5_000, hours: 24, people: { ada: [`arn:aws:iam::${account}:user/ada`] } },
      floatAlarmHours: 24,
      endedIn30sPercentMin: 97.5,
      queue: { minutes: 0 },
      auditCopy: { days: 400 },
      phoneRetentionDays: 35,
      consentRetentionDays: 365,
      workers: "off",
      awsCalls: "sdk",
      webhookAllowedCidrs: ["10.0.0.0/8", "fd00::/8"],
      permissionsBoundary: "prod-airtime-deployment",
      domain: {
        name: "api.example.com",
        certificateArn: `arn:aws:acm:${region}:${account}:certificate/0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f`,
        isOnlyAddress: true,
      },
      console: {
        issuer: "https://cognito-idp.us-east-1.amazonaws.com/us-east-1_a1B2c3D4e",
        clientId: "1h57kf5cpq17m0eml12EXAMPLE",
        operatorGroup: "airtime-operators",
        readerGroup: "airtime-readers",
        groupsClaim: "cognito:groups",
        scope: "openid email",
        requiredAmr: "mfa",
        tokenMinutesMax: 30,
        colour: "blue",
        tokenOrigin: "https://airtime.auth.us-east-1.amazoncognito.com",
      },
      ticketEmail: "tickets@example.com",
      monthlyUsdMax: 1_500,
      logRetentionDays: 365,
      logBytesPerHourMax: 1_000_000,
      requestsPerSecondMax: 50,
      release: { kind: "canary", percent: 50, minutes: 60 },
      tracing: "active",
      costCentre: "payments",
      maxConcurrency: { outcomes: 2, delivery: 2 },
      reservedConcurrency: { purchase: 200, "check-identity": 20, "receive-upstream-event": 20 },
    },
  ],
};
