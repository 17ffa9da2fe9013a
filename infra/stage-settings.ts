import * as z from "#zod";
import { fourEyesSettings } from "../shared/actions/four-eyes.ts";
import { consoleSettings } from "../shared/console/console-settings.ts";
import { isTimeZone } from "../shared/contract/values/time-zone.ts";
import { identityPrices } from "../shared/identity/identity-prices.ts";
import { upstreamCosts } from "../shared/ledger/upstream-costs.ts";
import { CONSENT_RETENTION_DAYS_MIN, PHONE_RETENTION_DAYS_MIN, QUEUE_MINUTES_MAX } from "../shared/platform/env.ts";
import { parseIpRange } from "../shared/platform/ip-range.ts";
import { profileChanges } from "../shared/upstream/profile.ts";
import { REQUESTS_PER_SECOND_MAX } from "./gateway.ts";
import { QUEUE_CONCURRENCY_MAX, QUEUE_CONCURRENCY_MIN, queues } from "./queues.ts";
import { SettingsError } from "./settings-error.ts";

const ipRanges = z.array(
  z.string().check(
    z.refine((text) => parseIpRange(text) !== undefined, {
      error: ({ input }) => `"${input}" is not an IP address or CIDR range`,
    }),
  ),
);

/** Of ids: the synthesis would fail without a reason, or the deployment in its middle. */
const eachOnce = z.refine<readonly string[]>((ids) => new Set(ids).size === ids.length, "Each is named once");

/** Each address is an output, and a stack has 200, some 60 of them others. Source: "Understand CloudFormation quotas". */
const ADDRESSES_MAX = 100;

/** Whether functions that call the upstream or apps do so through NAT gateways with fixed addresses. */
const egress = z.discriminatedUnion("kind", [
  /** No VPC, and therefore no cost of NAT gateways and addresses: for test keys only. */
  z.object({ kind: z.literal("none") }),
  z.object({
    kind: z.literal("nat-gateway"),
    /**
     * The zones' names, such as `eu-west-1a`, with one gateway and one elastic IP in each. Named, because AWS does not
     * guarantee the order in which CloudFormation counts the zones of a region, and not every zone has Lambda and NAT
     * gateways. Sources: AWS, "Fn::GetAZs"; "Troubleshoot NAT gateways", "Availability Zone is unsupported".
     */
    zones: z
      .array(
        z.string().check(z.regex(/^[a-z]{2}(-[a-z]+)+-\d[a-z]$/, "is not a zone's name")),
        "Name the egress's zones",
      )
      .check(
        z.minLength(1, "An egress needs at least 1 zone"),
        z.maxLength(3, "An egress has at most 3 zones"),
        z.refine((names) => new Set(names).size === names.length, "An egress has one gateway in a zone"),
      ),
    /**
     * Existing elastic IPs (`eipalloc-...`), one for each zone; without them new ones are allocated and never released.
     */
    allocationIds: z.optional(z.array(z.string().check(z.startsWith("eipalloc-"))).check(eachOnce)),
  }),
  /** A network of the company, whose subnets route to the internet from fixed addresses. */
  z.object({
    kind: z.literal("existing"),
    vpcId: z.string().check(z.regex(/^vpc-([0-9a-f]{8}|[0-9a-f]{17})$/, "is not the id of a VPC")),
    subnetIds: z
      .array(z.string().check(z.regex(/^subnet-([0-9a-f]{8}|[0-9a-f]{17})$/, "is not the id of a subnet")))
      .check(z.minLength(1, "Name a subnet at least"), z.maxLength(16, "Lambda takes at most 16 subnets"), eachOnce),
    /** The addresses from which calls arrive at the upstream. */
    addresses: z
      .array(z.ipv4("is not an IPv4 address"))
      .check(
        z.minLength(1, "Name the addresses that the upstream whitelists"),
        z.maxLength(ADDRESSES_MAX, `The service's stack has outputs for ${ADDRESSES_MAX} addresses`),
      ),
  }),
]);

/** AWS Backup advises to keep backups for a week at least. Source: AWS Backup, "Metering, costs, and billing". */
const KEEP_DAYS_MIN = 7;
/** Source: AWS Backup, "PutBackupVaultLockConfiguration", ChangeableForDays. */
const LOCK_AFTER_DAYS_MIN = 3;

/** The committed placeholder until the operator names the account: a stage with it can be synthesised only. */
export const ACCOUNT_PLACEHOLDER = "000000000000";

/** A century. Sources: Amazon S3, "Object Lock considerations"; AWS Backup, "PutBackupVaultLockConfiguration". */
const DAYS_MAX = 36_500;
const AT_MOST_DAYS = z.maximum(DAYS_MAX, `Must be at most ${DAYS_MAX} days`);

/** Tables and secrets of an earlier stack that the stage uses instead of creating them. */
const adoption = z.object({
  accessTableName: z.string().check(z.minLength(1)),
  ledgerTableName: z.string().check(z.minLength(1)),
  ledgerStreamArn: z.string().check(z.startsWith("arn:")),
  auditTableName: z.string().check(z.minLength(1)),
  auditStreamArn: z.string().check(z.startsWith("arn:")),
  referenceKeySecretArn: z.string().check(z.startsWith("arn:")),
  checksumKeySecretArn: z.string().check(z.startsWith("arn:")),
  webhookKeySecretArn: z.string().check(z.startsWith("arn:")),
});

const NO_CERTIFICATE = "must be the ARN of a certificate in AWS Certificate Manager";
const CERTIFICATE_ARN = /^arn:aws[a-z-]*:acm:([a-z0-9-]+):(\d{12}):certificate\/[\w-]+$/;

/** Letters that API Gateway takes. Source: AWS CloudFormation, "AWS::ApiGatewayV2::DomainName". */
const hostName = z
  .string()
  .check(
    z.maxLength(253),
    z.regex(
      /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]*[a-z][a-z0-9-]*$/,
      "must be a host name in lower case, such as api.example.com",
    ),
  );

/** A host name of the company, in front of the API. */
const domain = z.object({
  name: hostName,
  certificateArn: z.string(NO_CERTIFICATE).check(z.regex(CERTIFICATE_ARN, NO_CERTIFICATE)),
  /** `true` switches AWS's own address off: only after apps and the upstream use this one. */
  isOnlyAddress: z._default(z.boolean(), false),
});

/** AWS WAF's limits. Sources: AWS WAF, "Rate-based rule high-level settings"; "RateBasedStatement". */
const REQUESTS_PER_ADDRESS_MIN = 10;
const REQUESTS_PER_ADDRESS_MAX = 2_000_000_000;
/**
 * The policy of a REST API has 8,192 characters: a hundred IPv6 ranges fill half of them, and as many ids of endpoints a
 * third. Source: API Gateway quotas.
 */
const CALLER_RANGES_MAX = 100;
const VPC_ENDPOINTS_MAX = 100;

/** The API of the callers' routes. Upstream events, console, operations and documents keep the HTTP API. */
const front = z.discriminatedUnion("kind", [
  /** An HTTP API for everything, open to the internet. */
  z.strictObject({ kind: z.literal("http") }),
  /** A regional REST API that only these addresses reach, each with a limit of AWS WAF. */
  z.strictObject({
    kind: z.literal("rest"),
    callerRanges: ipRanges.check(
      z.minLength(1, "Name the ranges of the callers"),
      z.maxLength(CALLER_RANGES_MAX, `A resource policy has room for ${CALLER_RANGES_MAX} ranges`),
    ),
    /** Requests in a minute; all apps behind one address share them. */
    requestsPerAddress: z._default(
      z
        .int()
        .check(
          z.minimum(REQUESTS_PER_ADDRESS_MIN, `AWS WAF limits to ${REQUESTS_PER_ADDRESS_MIN} requests at least`),
          z.maximum(REQUESTS_PER_ADDRESS_MAX, `AWS WAF limits to ${REQUESTS_PER_ADDRESS_MAX} requests at most`),
        ),
      6_000,
    ),
  }),
  /** A private REST API behind interface endpoints of `execute-api` in the callers' networks. */
  z.strictObject({
    kind: z.literal("private"),
    vpcEndpointIds: z
      .array(z.string().check(z.regex(/^vpce-([0-9a-f]{8}|[0-9a-f]{17})$/, "is not the id of a VPC endpoint")))
      .check(
        z.minLength(1, "Name an interface endpoint at least"),
        z.maxLength(VPC_ENDPOINTS_MAX, `A resource policy has room for ${VPC_ENDPOINTS_MAX} endpoints`),
        eachOnce,
      ),
  }),
]);

const regionName = z.string().check(z.regex(/^[a-z]{2}(-[a-z]+)+-\d$/, "An AWS region has a name such as eu-west-1"));

const KEY_ARN = /^arn:aws[a-z-]*:kms:([a-z0-9-]+):(\d{12}):key\/[\w-]+$/;
const VAULT_ARN = /^arn:aws[a-z-]*:backup:[a-z0-9-]+:(\d{12}):backup-vault:[\w-]{2,50}$/;
const keyArn = z.string().check(z.regex(KEY_ARN, "must be the ARN of a key in AWS KMS"));

/** A copy of the ledger, the access table and the never-rotated keys in another region, for when this one is lost. */
const recovery = z.strictObject({
  region: regionName,
  /** Hours between two backups; what is written after the last copy is lost with the region. */
  everyHours: z._default(z.literal([1, 2, 3, 4, 6, 8, 12, 24]), 1),
  /** How long backups and their copies are kept. */
  keepDays: z._default(
    z.int().check(z.minimum(KEEP_DAYS_MIN, `Backups are kept for at least ${KEEP_DAYS_MIN} days`), AT_MOST_DAYS),
    KEEP_DAYS_MIN,
  ),
  /** Days from the deployment on after which nobody can remove the lock of the vaults, the root user included. */
  lockAfterDays: z.optional(
    z
      .int()
      .check(
        z.minimum(LOCK_AFTER_DAYS_MIN, `AWS lets a lock be removed for at least ${LOCK_AFTER_DAYS_MIN} days`),
        AT_MOST_DAYS,
      ),
  ),
  /** A vault of another account of the organisation, which gets a copy too: for when this account is lost. */
  otherAccountVaultArn: z.optional(z.string().check(z.regex(VAULT_ARN, "must be the ARN of a vault in AWS Backup"))),
  /**
   * The company's keys that encrypt the backups and their copies in the other region; without them AWS Backup's own
   * key. AWS never changes the key of a vault.
   */
  vaultKeyArns: z.optional(z.strictObject({ backups: keyArn, copies: keyArn })),
});

const queueConcurrency = z
  .int()
  .check(
    z.minimum(QUEUE_CONCURRENCY_MIN, `AWS accepts a queue's concurrency from ${QUEUE_CONCURRENCY_MIN} on`),
    z.maximum(QUEUE_CONCURRENCY_MAX, `AWS accepts a queue's concurrency up to ${QUEUE_CONCURRENCY_MAX}`),
  );

/**
 * An alarm needs some minutes to notice a bad version: a metric of a log line takes one or two, its period one more.
 */
const CANARY_MINUTES_MIN = 5;
/**
 * CloudFormation gives up an alias's update after 120 minutes, and rolls back (the schema of AWS::Lambda::Alias); the
 * workflow that deploys ends after 110. The rest of the deployment takes some 15 minutes.
 */
const CANARY_MINUTES_MAX = 90;

/** How a new version of a function gets the invocations of the one before. */
const release = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("all-at-once") }),
  /** A part of them first, and all of them if no alarm was raised in these minutes. */
  z.strictObject({
    kind: z.literal("canary"),
    percent: z
      .int()
      .check(z.minimum(1, "A canary gets at least 1 percent"), z.maximum(99, "A canary gets at most 99 percent")),
    minutes: z
      .int()
      .check(
        z.minimum(
          CANARY_MINUTES_MIN,
          `A canary lasts at least ${CANARY_MINUTES_MIN} minutes, so that an alarm can be raised`,
        ),
        z.maximum(CANARY_MINUTES_MAX, `A canary lasts at most ${CANARY_MINUTES_MAX} minutes`),
      ),
  }),
]);

/** Source: AWS, "Tagging your AWS resources". */
const TAG_VALUE = /^(?!aws:)[\p{L}\p{N} _.:/=+@-]{1,256}$/u;

/** NGN. A percentage of it is still computed in whole numbers. */
const AIRTIME_MAX = 1_000_000_000;
/** NGN: no action takes a larger amount. Beyond the whole kobo that a number can hold the functions would not start. */
const OPERATOR_ACT_MAX = 9_999_999_999;

/** A call to the upstream lasts a second: fewer would refuse requests that the rate limits of keys allow. */
const RESERVED_MIN = 5;

/** The settings of a stage. A wrong setting fails the synthesis with a message. */
export const stageSettings = z
  .strictObject({
    /** The only AWS account and region in which the stage is deployed, operated and destroyed. */
    account: z.optional(z.string().check(z.regex(/^\d{12}$/, "An AWS account id has 12 digits"))),
    region: z.optional(regionName),
    /** Base URL of the upstream, `/v1` included. */
    upstreamBaseUrl: z.url({ protocol: /^https$/, error: "The upstream's URL must begin with https://" }).check(
      z.refine(
        (url) => !/[@?#]/.test(url),
        "The upstream's URL ends with its path: templates, outputs and commands show it, so it has no password and no key",
      ),
      // Another URL counts as another upstream: another spelling of the same one must not.
      z.overwrite((url) => (URL.parse(url)?.href ?? url).replace(/\/+$/, "")),
    ),
    /** Addresses from which the upstream sends its events; empty if it has named none. */
    upstreamWebhookIps: ipRanges,
    /** How the upstream differs from the document (docs/upstream.md). A stage that sells must name its `reference`. */
    upstreamProfile: z._default(profileChanges, {}),
    egress,
    /** NGN. */
    identityPrices: z.custom<z.input<typeof identityPrices>>().check(
      z.superRefine((prices, context) => {
        for (const issue of identityPrices.safeParse(prices).error?.issues ?? []) {
          context.addIssue({ code: "custom", message: issue.message, path: issue.path });
        }
      }),
    ),
    /** What `amount` in the upstream's answers is, and its expected discounts: costs, margins and the float follow. */
    upstreamCosts: z.prefault(upstreamCosts, {}),
    /** Days and months of statements, periods, charts and files begin at its midnight. The API stays UTC. */
    timeZone: z._default(
      z.string().check(z.refine(isTimeZone, "is not a time zone such as Africa/Lagos")),
      "Africa/Lagos",
    ),
    /** NGN. */
    airtimeMax: z._default(z.int().check(z.minimum(50), z.maximum(AIRTIME_MAX)), 50_000),
    /** NGN. The most that an operator credits or takes at once: who needs more asks for a deployment. */
    operatorActMaxNaira: z._default(z.int().check(z.minimum(1), z.maximum(OPERATOR_ACT_MAX)), 5_000_000),
    /** What one person proposes and another approves; absent: one person does everything alone. */
    fourEyes: z.optional(fourEyesSettings),
    /** An alarm is raised if what was paid to the upstream lasts for fewer hours, at the pace of the last 24. */
    floatAlarmHours: z._default(z.int().check(z.minimum(1), z.maximum(720)), 12),
    /** An alarm is raised if less than this share of the purchases of 24 hours ends within 30 s of the debit. */
    endedIn30sPercentMin: z._default(z.number().check(z.minimum(1), z.maximum(100)), 90),
    /** How long an order may wait for the upstream's rate limit; with 0 minutes none waits. */
    queue: z._default(z.strictObject({ minutes: z.int().check(z.minimum(0), z.maximum(QUEUE_MINUTES_MAX)) }), {
      minutes: 15,
    }),
    /** Phone numbers of settled transactions are masked after this many days. */
    phoneRetentionDays: z._default(z.int().check(z.minimum(PHONE_RETENTION_DAYS_MIN), AT_MOST_DAYS), 400),
    /** Consents lose the person's hash, purpose and evidence after this many days: six years, as claims last. */
    consentRetentionDays: z._default(
      z
        .int()
        .check(
          z.minimum(CONSENT_RETENTION_DAYS_MIN, `Consents are kept for at least ${CONSENT_RETENTION_DAYS_MIN} days`),
          AT_MOST_DAYS,
        ),
      2_190,
    ),
    /**
     * `off` stops all background changes of the ledger; for restoring a ledger. Messages wait in their queues, and
     * abandoned checks are not refunded.
     */
    workers: z._default(z.enum(["on", "off"]), "on"),
    /** `sdk` has the SDK send all calls of functions to AWS, without the short path (decision 0025). */
    awsCalls: z._default(z.enum(["short", "sdk"]), "short"),
    /** Private ranges that webhooks may reach, also over plain http. */
    webhookAllowedCidrs: z._default(
      ipRanges.check(z.maxLength(58, "A security group has room for 58 ranges: name larger ones")),
      [],
    ),
    /** Receives the alarms that need a person at any hour; needed by a stage that sells. */
    alarmEmail: z.optional(z.email()),
    /** Receives the other alarms; without it they go to `alarmEmail` too. */
    ticketEmail: z.optional(z.email()),
    front: z._default(front, { kind: "http" }),
    domain: z.optional(domain),
    /** The web console; absent if the stage has none. */
    console: z.optional(
      consoleSettings.check(
        z.refine(
          ({ issuer, tokenOrigin = issuer }) => [issuer, tokenOrigin].every((url) => url.startsWith("https://")),
          {
            error: "People sign in over https only: issuer and tokenOrigin must begin with https://",
          },
        ),
      ),
    ),
    /** What everything in the stage's AWS account may cost in a month before people are written to. */
    monthlyUsdMax: z.optional(z.number().check(z.positive("A budget is an amount in USD above 0"))),
    logRetentionDays: z._default(z.literal([7, 14, 30, 60, 90, 180, 365]), 30),
    /** An alarm is raised if a function logs more than this in an hour. */
    logBytesPerHourMax: z._default(z.int().check(z.positive()), 200_000_000),
    /** Rate limit of each order's route; other routes have a part of it. The limits of a key are lower. */
    requestsPerSecondMax: z._default(z.int().check(z.minimum(1)), REQUESTS_PER_SECOND_MAX),
    /** All at once, unless the stage has a canary. */
    release: z._default(release, { kind: "all-at-once" }),
    /** `active` records traces in AWS X-Ray. */
    tracing: z.optional(z.literal("active")),
    /** The tag `cost-centre` of every resource. */
    costCentre: z.optional(
      z.string().check(z.regex(TAG_VALUE, "A tag has 1 to 256 letters, digits, spaces and _.:/=+-@")),
    ),
    /** Concurrent invocations for each queue, so that a long queue cannot take what requests need. */
    maxConcurrency: z.prefault(
      z.strictObject({
        outcomes: z._default(queueConcurrency, queues.outcomes.concurrencyMax),
        delivery: z._default(queueConcurrency, queues.delivery.concurrencyMax),
      }),
      {},
    ),
    /** Reserved concurrency by function: guaranteed to it, and its limit. `doctor` says when to set it. */
    reservedConcurrency: z._default(
      z.partialRecord(
        z.enum(["purchase", "check-identity", "receive-upstream-event"]),
        z.int().check(z.minimum(RESERVED_MIN, `Reserved concurrency is a limit too: reserve at least ${RESERVED_MIN}`)),
      ),
      {},
    ),
    adopt: z.optional(adoption),
    /** A copy of the audit log in S3 with Object Lock, whose objects nobody can delete for `days`, the root user included. */
    auditCopy: z.optional(
      z.strictObject({
        days: z.int().check(z.minimum(1), AT_MOST_DAYS),
      }),
    ),
    /** An HMAC key of KMS that hashes the numbers of identity checks; without it the stage makes one. */
    identityKeyArn: z.optional(keyArn),
    recovery: z.optional(recovery),
    /** The name of a managed policy of the account, beyond which no role of the stage has permissions. */
    permissionsBoundary: z.optional(
      z.string().check(z.regex(/^[\w+=,.@-]{1,128}$/, "is not the name of a managed policy")),
    ),
  })
  .check(
    z.refine(({ recovery, account, region }) => !recovery || (account !== undefined && region !== undefined), {
      error: "The stage must name its account and region, to which the copies in another region belong",
      path: ["recovery"],
    }),
    z.refine(({ recovery, region }) => !recovery || recovery.region !== region, {
      error: "The copies must be in another region than the stage",
      path: ["recovery", "region"],
    }),
    z.refine(
      ({ recovery, account }) => VAULT_ARN.exec(recovery?.otherAccountVaultArn ?? "")?.[1] !== account || !account,
      {
        error: "The vault must be in another account than the stage",
        path: ["recovery", "otherAccountVaultArn"],
      },
    ),
    z.refine(({ recovery, account, region }) => !recovery?.vaultKeyArns || areKeysOf(recovery, account, region), {
      error: "The keys must be in the stage's account, and each in the region of its vault",
      path: ["recovery", "vaultKeyArns"],
    }),
    z.refine(({ adopt, identityKeyArn }) => !adopt || identityKeyArn !== undefined, {
      error: "A stage that adopts a ledger needs the key that hashed its numbers: output IdentityKeyArn of its stage",
      path: ["identityKeyArn"],
    }),
    z.refine(({ identityKeyArn: arn, account, region }) => !arn || placeOfKey(arn) === `${region},${account}`, {
      error: "The key must be in the stage's account and region, which the stage must name",
      path: ["identityKeyArn"],
    }),
    z.refine(({ egress }) => hasAddressForEachZone(egress), {
      error: "There must be one elastic IP for each zone",
      path: ["egress", "allocationIds"],
    }),
    z.refine(({ monthlyUsdMax, alarmEmail }) => monthlyUsdMax === undefined || alarmEmail !== undefined, {
      error: "A budget needs the address of those whom AWS writes to",
      path: ["alarmEmail"],
    }),
    z.refine((settings) => !sells(settings) || settings.alarmEmail !== undefined, {
      error: "A stage that sells needs the address of those who must receive its alarms",
      path: ["alarmEmail"],
    }),
    // With the placeholder nothing is deployed, so nothing is known of the upstream yet.
    z.refine(
      (settings) =>
        !sells(settings) ||
        settings.account === ACCOUNT_PLACEHOLDER ||
        settings.upstreamProfile.reference !== undefined,
      {
        error: `A stage that sells must say which orders carry our reference: "all", or only those "documented", which every upstream takes. Set "documented", deploy, and run npm run admin -- --stage NAME upstream probe: it says which one this upstream takes (docs/upstream.md)`,
        path: ["upstreamProfile", "reference"],
      },
    ),
    z.refine(({ egress, region }) => isInRegion(egress, region), {
      error: "The zones must be in the stage's region",
      path: ["egress", "zones"],
    }),
    z.refine(({ egress, webhookAllowedCidrs }) => egress.kind !== "none" || webhookAllowedCidrs.length === 0, {
      error: "There is no route to private ranges without a VPC: choose another egress",
      path: ["webhookAllowedCidrs"],
    }),
    z.refine(({ domain, account, region }) => domain === undefined || isPlaceOf(domain, account, region), {
      error: "The certificate must be in the stage's account and region, which the stage must name",
      path: ["domain", "certificateArn"],
    }),
    z.refine((settings) => !sells(settings) || (settings.account !== undefined && settings.region !== undefined), {
      error:
        "A stage that sells must name its AWS account and region, so that no other one becomes a second production",
      path: ["account"],
    }),
  );
export type StageSettings = z.output<typeof stageSettings>;

/** The settings as they are written. */
export type StageInput = z.input<typeof stageSettings>;
export type Stages = Readonly<Record<string, StageInput>>;

/** Whether live orders reach the upstream, which only accepts them from fixed addresses. */
export const sells = ({ egress }: { readonly egress: { readonly kind: string } }): boolean => egress.kind !== "none";

type Egress = z.output<typeof egress>;

const hasAddressForEachZone = (egress: Egress): boolean =>
  egress.kind !== "nat-gateway" || (egress.allocationIds ?? egress.zones).length === egress.zones.length;

const isInRegion = (egress: Egress, region: string | undefined): boolean =>
  egress.kind !== "nat-gateway" || egress.zones.every((zone) => region !== undefined && zone.slice(0, -1) === region);

const placeOfKey = (arn: string): string | undefined => KEY_ARN.exec(arn)?.slice(1).join();

const areKeysOf = (
  { region: copiesRegion, vaultKeyArns }: z.output<typeof recovery>,
  account: string | undefined,
  region: string | undefined,
): boolean => {
  const places = [vaultKeyArns?.backups, vaultKeyArns?.copies].map((arn = "") => placeOfKey(arn));
  return places.join(" ") === `${region},${account} ${copiesRegion},${account}`;
};

const isPlaceOf = (
  { certificateArn }: z.output<typeof domain>,
  account: string | undefined,
  region: string | undefined,
): boolean => {
  const [, certificateRegion, certificateAccount] = CERTIFICATE_ARN.exec(certificateArn) ?? [];
  return region !== undefined && region === certificateRegion && account === certificateAccount;
};

/** The prefix of a stage's names on AWS, and the stage dimension of its metrics. */
const stageName = z
  .string()
  .check(z.regex(/^[a-z][a-z0-9]{0,15}$/, "A stage's name is 1 to 16 lower-case letters and digits"));

/**
 * The stages of a repository, by name: what its `stages.ts` exports as `stages`. The compiler checks the fields here;
 * each command parses its stage, and answers a wrong value with a sentence.
 */
export const defineStages = <Name extends string>(
  stages: Readonly<Record<Name, StageInput>>,
): Readonly<Record<Name, StageInput>> => stages;

/** Throws a SettingsError if there is no such stage. */
const assertStage = (stage: string, known: Readonly<Record<string, unknown>>): void => {
  if (Object.hasOwn(known, stage)) return;
  throw new SettingsError(`There is no stage "${stage}" in stages.ts. Known: ${Object.keys(known).join(", ")}.`);
};

/** Throws a SettingsError if no stage can have this name. */
export const assertStageName = (stage: string): void => {
  const { error } = stageName.safeParse(stage);
  if (error) throw new SettingsError(`"${stage}" is no name of a stage. ${error.issues[0]?.message}.`);
};

/** Throws a SettingsError if API Gateway takes no domain of this name. */
export const assertHostName = (name: string): void => {
  const { error } = hostName.safeParse(name);
  if (error) throw new SettingsError(`"${name}" is no name of a domain: ${error.issues[0]?.message}.`);
};

/** A stage's settings; throws a SettingsError if they are not valid. */
export const settingsOf = (stage: string, known: Readonly<Record<string, unknown>>): StageSettings => {
  assertStage(stage, known);
  const name = stageName.safeParse(stage);
  const parsed = stageSettings.safeParse(known[stage]);
  if (name.success && parsed.success) return parsed.data;
  const issues = [...(name.error?.issues ?? []), ...(parsed.error?.issues ?? [])];
  const messages = issues.map(({ path, message }) => (path.length > 0 ? `${path.join(".")}: ${message}` : message));
  throw new SettingsError(`Stage "${stage}" in stages.ts is not valid: ${messages.join("; ")}.`);
};
