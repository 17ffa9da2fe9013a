import { globSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { SettingsError } from "../../../infra/settings-error.ts";
import { settingsOf, stageSettings } from "../../../infra/stage-settings.ts";
import { consoleSettings } from "../../../shared/console/console-settings.ts";
import { stages } from "../../../stages.ts";
import { aConsole } from "../../builders/templates/console.ts";
import { stageVariants } from "../../builders/templates/stage-variants.ts";

const dear = { nin: { basic: 1, advanced: 2, retrieve: 3 }, bvn: { basic: 1, advanced: 2, retrieve: 3 } };

const existing = {
  kind: "existing",
  vpcId: "vpc-0a1b2c3d",
  subnetIds: ["subnet-0a1b2c3d"],
  addresses: ["203.0.113.1"],
};

const vaultOf = (account: string): string => `arn:aws:backup:eu-west-1:${account}:backup-vault:airtime`;
const keyIn = (region: string, account = "000000000000"): string => `arn:aws:kms:${region}:${account}:key/1`;

describe("settingsOf", () => {
  const withConsole = (changes: object) => ({ console: { ...aConsole, ...changes } });
  const withCopies = (changes: object) => ({ recovery: { region: "eu-west-1", ...changes } });
  const withKeys = (backups: string, copies: string) => withCopies({ vaultKeyArns: { backups, copies } });
  const withDomain = (certificate: string, name = "api.example.com") => ({
    domain: { name, certificateArn: `arn:aws:${certificate}` },
  });
  const placeOfCertificate = "domain.certificateArn: The certificate must be in the stage's account and region";
  const placeOfKeys =
    "recovery.vaultKeyArns: The keys must be in the stage's account, and each in the region of its vault";

  const zone = (letter: string): string => `us-east-1${letter}`;
  const sentenceFor = (changes: object): string => {
    try {
      settingsOf("prod", { prod: { ...stages.prod, ...changes } });
    } catch (error) {
      if (error instanceof SettingsError) return error.message;
    }
    return "";
  };

  test.each([
    [
      { identityPrices: { ...dear, nin: { basic: 150, advanced: 250, retrieve: 250 } } },
      "A retrieval must cost more than a",
    ],
    [{ egress: { kind: "nat-gateway", zones: [] } }, "An egress needs at least 1 zone"],
    [{ egress: { kind: "nat-gateway", zones: ["a", "b", "c", "d"].map(zone) } }, "An egress has at most 3 zones"],
    [{ egress: { kind: "nat-gateway", zones: 2 } }, "Name the egress's zones"],
    [{ egress: { kind: "nat-gateway", zones: ["a", "a"].map(zone) } }, "An egress has one gateway in a zone"],
    [{ egress: { kind: "nat-gateway", zones: ["use1-az1"] } }, "is not a zone's name"],
    [
      { egress: { kind: "nat-gateway", zones: ["a", "b"].map(zone), allocationIds: ["eipalloc-0a"] } },
      "one elastic IP for each zone",
    ],
    [
      {
        egress: { kind: "nat-gateway", zones: ["a", "b"].map(zone), allocationIds: Array(2).fill("eipalloc-0a1b2c3d") },
      },
      "egress.allocationIds: Each is named once",
    ],
    [{ egress: { kind: "nat-gateway", zones: ["eu-west-1a"] } }, "The zones must be in the stage's region"],
    [{ egress: { ...existing, subnetIds: Array(2).fill("subnet-0a1b2c3d") } }, "egress.subnetIds: Each is named once"],
    [
      { front: { kind: "private", vpcEndpointIds: Array(2).fill("vpce-0a1b2c3d") } },
      "front.vpcEndpointIds: Each is named once",
    ],
    [{ egress: { ...existing, subnetIds: [] } }, "Name a subnet at least"],
    [{ egress: { ...existing, subnetIds: Array(17).fill("subnet-0a1b2c3d") } }, "Lambda takes at most 16 subnets"],
    [{ webhookAllowedCidrs: Array(59).fill("10.1.0.0/16") }, "A security group has room for 58 ranges"],
    [{ egress: { ...existing, vpcId: "10.0.0.0/16" } }, "egress.vpcId: is not the id of a VPC"],
    [{ egress: { ...existing, addresses: [] } }, "Name the addresses that the upstream whitelists"],
    [
      { egress: { ...existing, addresses: Array(101).fill("203.0.113.1") } },
      "egress.addresses: The service's stack has outputs for 100 addresses",
    ],
    [
      { front: { kind: "private", vpcEndpointIds: Array(101).fill("vpce-0a1b2c3d") } },
      "front.vpcEndpointIds: A resource policy has room for 100 endpoints",
    ],
    [
      { front: { kind: "rest", callerRanges: ["203.0.113.1"], requestsPerAddress: 2_000_000_001 } },
      "front.requestsPerAddress: AWS WAF limits to 2000000000 requests at most",
    ],
    [
      { egress: { kind: "none" }, webhookAllowedCidrs: ["10.1.0.0/16"] },
      "webhookAllowedCidrs: There is no route to private ranges without a VPC: choose another egress",
    ],
    ...[{ issuer: "http://login.example.com" }, { tokenOrigin: "http://login.example.com" }].map(
      (changes): [object, string] => [
        withConsole(changes),
        "console: People sign in over https only: issuer and tokenOrigin must begin with https://",
      ],
    ),
    [
      withConsole({ issuer: "login.example.com" }),
      "console.issuer: The issuer must be a URL that begins with https://",
    ],
    [
      withConsole({ issuer: "https://airtime.auth.eu-west-1.amazoncognito.com" }),
      "console.issuer: This is Cognito's sign-in domain: the issuer is https://cognito-idp.REGION.amazonaws.com/POOL",
    ],
    [
      withConsole({ issuer: "https://login.example.com/.well-known/openid-configuration" }),
      "console.issuer: Name the issuer, which is the address of the provider's discovery document without /.well-known",
    ],
    [
      withConsole({ issuer: "https://login.example.com?tenant=1" }),
      "console.issuer: An issuer has neither a query nor a fragment",
    ],
    [
      withConsole({ readerGroup: aConsole.operatorGroup }),
      "console.readerGroup: The group of the role reader must be another one than that of operator",
    ],
    [withConsole({ scope: "email profile" }), "console.scope: Without the scope openid a provider issues no ID token"],
    [withConsole({ scope: "openid  email" }), "console.scope: Write scopes with one space between them"],
    [
      withConsole({ tokenOrigin: "https://login.example.com/token" }),
      "console.tokenOrigin: An origin has no path, and no slash at its end",
    ],
    [withConsole({ clientSecret: "x" }), 'console: Has the unknown field "clientSecret"'],
    [{ account: undefined }, "account: A stage that sells must name its AWS account and region"],
    [{ region: undefined }, "account: A stage that sells must name its AWS account and region"],
    [{ account: "1234" }, "account: An AWS account id has 12 digits"],
    [{ region: "Ireland" }, "region: An AWS region has a name such as eu-west-1"],
    [
      { domain: { name: "api.example.com" } },
      "domain.certificateArn: must be the ARN of a certificate in AWS Certificate Manager",
    ],
    [
      withDomain("iam::000000000000:server-certificate/api"),
      "domain.certificateArn: must be the ARN of a certificate in AWS Certificate Manager",
    ],
    [withDomain("acm:eu-west-1:000000000000:certificate/1"), placeOfCertificate],
    [withDomain("acm:us-east-1:111122223333:certificate/1"), placeOfCertificate],
    ...[
      ...["https://api.example.com", "api.example.com/v1", "API.example.com", "api_v1.example.com", "*.example.com"],
      ...["api.example.com.", "localhost", "203.0.113.7", "-api.example.com", "api..example.com"],
    ].map((name): [object, string] => [
      withDomain("acm:us-east-1:000000000000:certificate/1", name),
      "domain.name: must be a host name in lower case, such as api.example.com",
    ]),
    [{ upstreamWebhookIps: ["203.0.113.256"] }, '"203.0.113.256" is not an IP address or CIDR range'],
    [
      { upstreamProfile: { signature: { header: "X Signature", encoding: "hex" } } },
      "upstreamProfile.signature.header: A header's name has letters, digits and",
    ],
    [
      { account: "111122223333" },
      'upstreamProfile.reference: A stage that sells must say which orders carry our reference: "all", or only those "documented"',
    ],
    [{ upstreamBaseUrl: "http://upstream.example.com/v1" }, "The upstream's URL must begin with https://"],
    ...[
      "https://name:password@upstream.example.com/v1",
      "https://upstream.example.com/v1?key=a",
      "https://x.org/#a",
    ].map((upstreamBaseUrl): [object, string] => [
      { upstreamBaseUrl },
      "upstreamBaseUrl: The upstream's URL ends with its path: templates, outputs and commands show it",
    ]),
    [{ alarmEmail: "nobody" }, "alarmEmail: "],
    [{ monthlyUsdMax: 0 }, "monthlyUsdMax: "],
    [{ maxConcurrency: { delivery: 1 } }, "maxConcurrency.delivery: AWS accepts a queue's concurrency from 2 on"],
    [{ maxConcurrency: { outcomes: 1_001 } }, "maxConcurrency.outcomes: AWS accepts a queue's concurrency up to 1000"],
    [{ reservedConcurrency: { purchase: 1 } }, "reservedConcurrency.purchase: Reserved concurrency is a limit too"],
    [{ identityKeyArn: keyIn("eu-west-1") }, "identityKeyArn: The key must be in the stage's account and region"],
    [{ identityKeyArn: keyIn("us-east-1", "111122223333") }, "identityKeyArn: The key must be in the stage's account"],
    [{ identityKeyArn: "alias/prod" }, "identityKeyArn: must be the ARN of a key in AWS KMS"],
    [
      { ...stageVariants.adopted?.[1], identityKeyArn: undefined },
      "identityKeyArn: A stage that adopts a ledger needs the key that hashed its numbers",
    ],
    [{ recovery: { region: "us-east-1" } }, "recovery.region: The copies must be in another region than the stage"],
    [{ recovery: { region: "Ireland" } }, "recovery.region: An AWS region has a name such as eu-west-1"],
    ...[{ account: undefined }, { region: undefined }].map((changes): [object, string] => [
      { ...withCopies({}), egress: { kind: "none" }, ...changes },
      "recovery: The stage must name its account and region",
    ]),
    [withCopies({ everyHours: 5 }), "recovery.everyHours: "],
    [withCopies({ keepDays: 6 }), "recovery.keepDays: Backups are kept for at least 7 days"],
    [withCopies({ keepDays: 36_501 }), "recovery.keepDays: Must be at most 36500 days"],
    [withCopies({ lockAfterDays: 36_501 }), "recovery.lockAfterDays: Must be at most 36500 days"],
    [{ auditCopy: { days: 36_501 } }, "auditCopy.days: Must be at most 36500 days"],
    [{ phoneRetentionDays: 36_501 }, "phoneRetentionDays: Must be at most 36500 days"],
    [{ consentRetentionDays: Number.MAX_SAFE_INTEGER }, "consentRetentionDays: Must be at most 36500 days"],
    [{ airtimeMax: Number.MAX_SAFE_INTEGER }, "airtimeMax: Must be at most 1000000000"],
    [{ operatorActMaxNaira: Number.MAX_SAFE_INTEGER }, "operatorActMaxNaira: Must be at most 9999999999"],
    [withCopies({ lockAfterDays: 2 }), "recovery.lockAfterDays: AWS lets a lock be removed for at least 3 days"],
    [
      withCopies({ otherAccountVaultArn: "airtime" }),
      "recovery.otherAccountVaultArn: must be the ARN of a vault in AWS Backup",
    ],
    [
      withCopies({ otherAccountVaultArn: vaultOf("000000000000") }),
      "recovery.otherAccountVaultArn: The vault must be in another account than the stage",
    ],
    [
      withKeys("alias/backups", keyIn("eu-west-1")),
      "recovery.vaultKeyArns.backups: must be the ARN of a key in AWS KMS",
    ],
    [withKeys(keyIn("eu-west-1"), keyIn("eu-west-1")), placeOfKeys],
    [withKeys(keyIn("us-east-1"), keyIn("us-east-1")), placeOfKeys],
    [withKeys(keyIn("us-east-1"), keyIn("eu-west-1", "111122223333")), placeOfKeys],
    [{ purchases: "off" }, "purchases"],
    [{ release: { kind: "linear" } }, "release.kind: "],
    [{ release: { kind: "canary", percent: 10 } }, "release.minutes: "],
    [{ release: { kind: "canary", percent: 0, minutes: 10 } }, "release.percent: A canary gets at least 1 percent"],
    [{ release: { kind: "canary", percent: 100, minutes: 10 } }, "release.percent: A canary gets at most 99 percent"],
    [{ release: { kind: "canary", percent: 10, minutes: 4 } }, "release.minutes: A canary lasts at least 5 minutes"],
    [{ release: { kind: "canary", percent: 10, minutes: 91 } }, "release.minutes: A canary lasts at most 90 minutes"],
    [{ release: { kind: "all-at-once", percent: 10 } }, 'release: Has the unknown field "percent"'],
    [{ tracing: "passive" }, "tracing: "],
    [{ costCentre: "" }, "costCentre: A tag has 1 to 256 letters, digits, spaces and"],
    [{ costCentre: "payments;retail" }, "costCentre: A tag has 1 to 256 letters, digits, spaces and"],
    [{ costCentre: "aws:payments" }, "costCentre: "],
    [{ webhookIps: ["203.0.113.1"] }, "webhookIps"],
  ])("a stage with %j fails with one sentence that says what is wrong", (changes, says) => {
    const sentence = sentenceFor(changes);
    expect(sentence).toMatch(/^Stage "prod" in stages\.ts is not valid: [^\n]+\.$/);
    expect(sentence).toContain(says);
  });

  test("a stage with egress and without alarmEmail fails with one sentence that asks for it", () => {
    expect(sentenceFor({ alarmEmail: undefined })).toBe(
      'Stage "prod" in stages.ts is not valid: ' +
        "alarmEmail: A stage that sells needs the address of those who must receive its alarms.",
    );
  });

  test("a budget of a stage without alarmEmail fails with one sentence that asks for it", () => {
    const settings = { ...stages.sandbox, monthlyUsdMax: 20 };
    expect(() => settingsOf("sandbox", { sandbox: settings })).toThrow(/A budget needs the address of those whom AWS/);
  });

  test("a stage without egress needs no alarmEmail, because it sells nothing", () => {
    const settings = { ...stages.prod, egress: { kind: "none" as const }, alarmEmail: undefined };
    expect(settingsOf("prod", { prod: settings })).toMatchObject({ maxConcurrency: { outcomes: 10, delivery: 20 } });
  });

  test.each([
    ["https://Upstream.example.com/v1", "https://upstream.example.com/v1"],
    ["https://upstream.example.com:443/v1/", "https://upstream.example.com/v1"],
    ["https://upstream.example.com:8443//", "https://upstream.example.com:8443"],
    ["https://upstream.example.com/V1", "https://upstream.example.com/V1"],
  ])("the upstream at %s is the one at %s: queued orders are refunded when it changes", (upstreamBaseUrl, same) => {
    expect(settingsOf("prod", { prod: { ...stages.prod, upstreamBaseUrl } }).upstreamBaseUrl).toBe(same);
  });

  test("a new version gets all invocations at once unless the stage has a canary, as prod has and the sandbox has not", () => {
    expect(settingsOf("sandbox", stages).release).toEqual({ kind: "all-at-once" });
    expect(settingsOf("prod", stages).release).toEqual({ kind: "canary", percent: 10, minutes: 10 });
  });

  test("the console's issuer is kept to the character, and claim and scopes have what most providers use", () => {
    expect(settingsOf("prod", { prod: { ...stages.prod, console: aConsole } }).console).toEqual({
      ...aConsole,
      issuer: "https://login.example.com/",
      groupsClaim: "groups",
      tokenMinutesMax: 15,
      scope: "openid email profile",
    });
  });

  test("the settings of every stage are valid", () => {
    for (const stage of Object.keys(stages)) expect(() => settingsOf(stage, stages)).not.toThrow();
  });
});

test("docs/deployment.md lists every setting of a stage", () => {
  const [, section = ""] = readFileSync("docs/deployment.md", "utf8").split("\n## Settings\n");
  const rows = [...section.matchAll(/^\| (`[^|]*`) \|/gm)].join("\n");
  expect(Object.keys(stageSettings.shape).filter((name) => !rows.includes(`\`${name}\``))).toEqual([]);
});

test("each setting of a stage changes something that is deployed", () => {
  const files = globSync("infra/**/*.ts").filter((file) => !file.endsWith("stage-settings.ts"));
  const code = files.map((file) => readFileSync(file, "utf8")).join("\n");
  expect(Object.keys(stageSettings.shape).filter((name) => !new RegExp(`\\b${name}\\b`).test(code))).toEqual([]);
});

test("docs/deployment.md explains every field of the setting console", () => {
  const [, rest = ""] = readFileSync("docs/deployment.md", "utf8").split("\n## Add the console\n");
  const [section = ""] = rest.split("\n## ");
  expect(Object.keys(consoleSettings.shape).filter((name) => !section.includes(name))).toEqual([]);
});
