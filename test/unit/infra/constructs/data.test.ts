import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import * as z from "#zod";
import { type TableShape, tables } from "../../../../infra/tables.ts";
import { type SecretKind, secretNames, secretTable } from "../../../../shared/platform/secret-table.ts";
import { OWN_EXPORTS } from "../../../../tools/deploy/stacks.ts";
import { ACCOUNT_ID } from "../../../../tools/local/local-aws.ts";
import { evaluate, statementsIn } from "../../../builders/iam/evaluate.ts";
import { arnOf, nameOf, resolverOf } from "../../../builders/iam/resolve.ts";
import { everyFunction } from "../../../builders/templates/console.ts";
import { stageVariants } from "../../../builders/templates/stage-variants.ts";
import { changedSettings, idIn, templatesOf } from "../../../builders/templates/templates.ts";

const { data, service } = templatesOf("prod");
const found = data.all("AWS::DynamoDB::Table");
const isDurable = { PointInTimeRecoveryEnabled: true };

test("there are four tables, and access, ledger and audit are protected and retained", () => {
  expect(found).toHaveLength(Object.keys(tables).length);
  const durable = found.filter(({ Properties }) => Properties.DeletionProtectionEnabled === true);
  expect(durable.map(({ id }) => id.replace(/[0-9A-F]{8}$/, ""))).toEqual(["Access", "Ledger", "Audit"]);
  for (const table of durable) {
    expect(table).toMatchObject({
      // Also when its creation is rolled back, which could not delete what is protected.
      DeletionPolicy: "Retain",
      UpdateReplacePolicy: "Retain",
      Properties: { PointInTimeRecoverySpecification: isDurable },
    });
  }
});

test.each(Object.entries<TableShape>(tables))(
  "the table %s is encrypted and paid by request, and has the keys, indexes, stream and expiry of infra/tables.ts",
  (name, { partition, sort, indexes, stream, ttl }) => {
    const table = found.find(({ id }) => id.toLowerCase().startsWith(name))?.Properties;
    const keys = (hash: string, range?: string) => [
      { AttributeName: hash, KeyType: "HASH" },
      ...(range === undefined ? [] : [{ AttributeName: range, KeyType: "RANGE" }]),
    ];
    expect(table).toMatchObject({ BillingMode: "PAY_PER_REQUEST", SSESpecification: { SSEEnabled: true } });
    expect(table?.KeySchema).toEqual(keys(partition, sort));
    expect(table?.GlobalSecondaryIndexes ?? []).toEqual(
      indexes.map((index) => ({
        IndexName: index.name,
        KeySchema: keys(index.partition, index.sort),
        Projection: index.includes
          ? { ProjectionType: "INCLUDE", NonKeyAttributes: index.includes }
          : { ProjectionType: "KEYS_ONLY" },
      })),
    );
    // The filters of webhooks compare a transaction's status before and after.
    expect(table?.StreamSpecification).toEqual(stream && { StreamViewType: "NEW_AND_OLD_IMAGES" });
    expect(table?.TimeToLiveSpecification).toEqual(ttl && { AttributeName: ttl, Enabled: true });
  },
);

describe("the policy of the audit table", () => {
  const policies = found.flatMap(({ id, Properties }) =>
    Properties.ResourcePolicy ? [[id, Properties] as const] : [],
  );
  const { PolicyDocument } = z
    .object({ PolicyDocument: z.looseObject({ Statement: z.array(z.looseObject({ Principal: z.unknown() })) }) })
    .parse(policies[0]?.[1].ResourcePolicy);
  const statements = PolicyDocument.Statement;
  const administrator = { Effect: "Allow", Action: "*", Resource: "*" };
  const asked = (action: string) =>
    evaluate(
      statementsIn({
        ...PolicyDocument,
        Statement: [administrator, ...statements.map(({ Principal: _, ...rest }) => rest)],
      }),
      { action: `dynamodb:${action}`, resource: arnOf("AWS::DynamoDB::Table", "Audit"), context: {} },
    );

  test("only the audit table has one, and it is for every principal", () => {
    expect(policies.map(([id]) => nameOf(id))).toEqual(["Audit"]);
    expect(statements.map(({ Principal }) => Principal)).toEqual([{ AWS: "*" }]);
  });

  test.each([
    ...["UpdateItem", "DeleteItem", "BatchWriteItem", "PartiQLUpdate", "PartiQLDelete", "PartiQLInsert"],
    "UpdateTimeToLive",
  ])("denies an administrator %s", (action) => {
    expect(asked(action)).toBe("denied");
  });

  test.each(["PutItem", "Query", "GetItem", "DescribeTable", "UpdateContinuousBackups"])(
    "leaves %s to the policies of those who ask",
    (action) => {
      expect(asked(action)).toBe("allowed");
    },
  );

  test("docs/recovery.md gives a restored table the same policy", () => {
    const [, written = ""] =
      /put-resource-policy[^']*--policy '([^']+)'/.exec(readFileSync("docs/recovery.md", "utf8")) ?? [];
    expect(JSON.parse(written)).toEqual(PolicyDocument);
  });
});

describe("the bucket with the copy of the audit log", () => {
  const templates = templatesOf("prod", everyFunction);
  const [bucket] = templates.data.all("AWS::S3::Bucket");
  const [policy] = templates.data.all("AWS::S3::BucketPolicy");

  test("it exists with the setting alone, locks each version for the days of it, and stays when its stack goes", () => {
    expect(data.all("AWS::S3::Bucket")).toEqual([]);
    // With its policy, without which everybody who may delete objects could do so when their days end.
    for (const each of [bucket, policy]) {
      expect(each).toMatchObject({ DeletionPolicy: "RetainExceptOnCreate", UpdateReplacePolicy: "Retain" });
    }
    expect(bucket?.Properties).toMatchObject({
      ObjectLockEnabled: true,
      ObjectLockConfiguration: {
        ObjectLockEnabled: "Enabled",
        Rule: { DefaultRetention: { Mode: "COMPLIANCE", Days: 400 } },
      },
      VersioningConfiguration: { Status: "Enabled" },
      PublicAccessBlockConfiguration: { BlockPublicAcls: true, RestrictPublicBuckets: true },
    });
  });

  const resolve = resolverOf([templates.data, templates.service]);
  const document = z.looseObject({ Statement: z.array(z.looseObject({ Principal: z.unknown() })) });
  const { Statement } = document.parse(resolve(policy?.Properties.PolicyDocument));
  const asked = (action: string, role: string, secure = "true") =>
    evaluate(
      statementsIn({
        Version: "2012-10-17",
        Statement: [
          { Effect: "Allow", Action: "*", Resource: "*" },
          ...Statement.map(({ Principal: _, ...rest }) => rest),
        ],
      }),
      {
        action: `s3:${action}`,
        resource: `${arnOf("AWS::S3::Bucket", "AuditCopy")}/acc_1/0000000001/x`,
        context: {
          "aws:PrincipalArn": `arn:aws:iam::${ACCOUNT_ID}:role/${role}`,
          "aws:SecureTransport": secure,
        },
      },
    );

  test("its policy lets only the function that copies put an object, over TLS, and nobody delete one", () => {
    expect(Statement.map(({ Principal }) => Principal)).toEqual(Statement.map(() => ({ AWS: "*" })));
    const writer = "Prod-Service-CopyAuditRole0A1B2C3D-a1B2c3D4e5F6";
    for (const role of [writer, "Prod-Service-ConsoleApiRole0A1B2C3D-a1B2c3D4e5F6", "Administrator"]) {
      expect(asked("PutObject", role)).toBe(role === writer ? "allowed" : "denied");
      expect(asked("DeleteObject", role)).toBe("denied");
      expect(asked("DeleteObjectVersion", role)).toBe("denied");
      expect(asked("ListBucketVersions", role)).toBe("allowed");
    }
    expect(asked("PutObject", writer, "false")).toBe("denied");
  });
});

describe("secrets", () => {
  const secrets = data.all("AWS::SecretsManager::Secret");
  const ofKind = (kind: SecretKind) => secretNames.filter((name) => secretTable[name].kind === kind);

  test("no secret has a value in the template: AWS generates those that the operator does not set", () => {
    expect(secrets).toHaveLength(secretNames.length);
    for (const { Properties } of secrets) expect(Properties.SecretString).toBeUndefined();
    const generated = secrets.filter(({ Properties }) => Properties.GenerateSecretString !== undefined);
    expect(generated).toHaveLength(secretNames.length - ofKind("filled").length);
    for (const { Properties } of generated) {
      // Under 32 characters would count as absent.
      expect(Properties.GenerateSecretString).toEqual({ PasswordLength: 43, ExcludePunctuation: true });
    }
  });

  test("the keys that stored data depends on have the same template for ever, because another one generates other values", () => {
    const kept = secrets.filter(({ DeletionPolicy }) => DeletionPolicy === "RetainExceptOnCreate");
    // AWS generates a new value when GenerateSecretString changes, and a new secret for another id, name or KMS key.
    expect(kept.map(({ id, Properties: { Description: _, Tags: __, ...rest } }) => [id, rest])).toEqual([
      ["ReferenceKeyFC159260", { GenerateSecretString: { ExcludePunctuation: true, PasswordLength: 43 } }],
      ["ChecksumKey017C423A", { GenerateSecretString: { ExcludePunctuation: true, PasswordLength: 43 } }],
      ["WebhookKeyFF363931", { GenerateSecretString: { ExcludePunctuation: true, PasswordLength: 43 } }],
    ]);
    expect(kept).toHaveLength(ofKind("fixed").length);
    for (const { UpdateReplacePolicy } of kept) expect(UpdateReplacePolicy).toBe("Retain");
  });

  test("no secret is resolved into a template", () => {
    const text = JSON.stringify([data.every, service.every, service.outputs]);
    expect(text).toContain("SECRET_ID");
    expect(text).not.toContain("{{resolve:");
  });
});

describe("the identity key", () => {
  const [key] = data.all("AWS::KMS::Key");
  const [alias] = data.all("AWS::KMS::Alias");

  test("it is one multi-region HMAC key with an alias, and stays when the stack of a stage that sells goes", () => {
    expect(data.all("AWS::KMS::Key")).toHaveLength(1);
    expect(key).toMatchObject({
      id: "IdentityKeyF50EF652",
      DeletionPolicy: "RetainExceptOnCreate",
      UpdateReplacePolicy: "Retain",
      Properties: { KeySpec: "HMAC_256", KeyUsage: "GENERATE_VERIFY_MAC", MultiRegion: true },
    });
    expect(alias?.Properties.AliasName).toBe("alias/prod-airtime-identity");
    const [sandbox] = templatesOf("sandbox").data.all("AWS::KMS::Key");
    expect(sandbox?.DeletionPolicy).toBe("Delete");
  });

  /** What the key's policy says of a principal whose own policy allows everything. */
  const asked = (action: string, role: string, algorithm = "HMAC_SHA_256") => {
    const { Statement } = z
      .object({ Statement: z.array(z.looseObject({ Principal: z.unknown() })) })
      .parse(resolverOf([data, service])(key?.Properties.KeyPolicy));
    return evaluate(
      statementsIn({ Version: "2012-10-17", Statement: Statement.map(({ Principal: _, ...rest }) => rest) }),
      {
        action: `kms:${action}`,
        resource: arnOf("AWS::KMS::Key", "IdentityKey"),
        context: { "aws:PrincipalArn": `arn:aws:iam::000000000000:${role}`, "kms:MacAlgorithm": algorithm },
      },
    );
  };
  const checker = "role/Prod-Service-CheckIdentityRole1A2B3C4D-AbCdEfGhIjKl";

  test("its policy lets the roles of check-identity and answer-subjects hash, and nobody else, administrators included", () => {
    const roles = service.all("AWS::IAM::Role").map(({ id }) => `role/Prod-Service-${id}-AbCdEfGhIjKl`);
    const others = [
      ...roles,
      "role/Administrator",
      "user/ada",
      "root",
      "role/Prodeu-Service-CheckIdentityRole1A2B3C4D-A",
    ];
    const hashing = others.filter((role) => asked("GenerateMac", role) === "allowed");
    expect(hashing.toSorted((one, other) => one.localeCompare(other))).toEqual([
      expect.stringMatching(/^role\/Prod-Service-AnswerSubjectsRole[0-9A-F]{8}-/),
      expect.stringMatching(/^role\/Prod-Service-CheckIdentityRole[0-9A-F]{8}-/),
    ]);
    expect(asked("GenerateMac", checker, "HMAC_SHA_384")).toBe("not allowed");
  });

  test.each(["VerifyMac", "CreateGrant", "ReEncryptFrom"])("its policy lets nobody call %s", (action) => {
    expect([checker, "role/Administrator"].map((role) => asked(action, role))).toEqual(["not allowed", "not allowed"]);
  });

  test("its policy lets administrators change the policy, so that the key cannot become unusable for ever", () => {
    expect(asked("PutKeyPolicy", "role/Administrator")).toBe("allowed");
  });

  test("docs/recovery.md gives the replica a policy that names both roles of the new stage, in one line as in many", () => {
    const [, edit = ""] = /get-key-policy .*\| sed (\S+)\)"/.exec(readFileSync("docs/recovery.md", "utf8")) ?? [];
    const policy = resolverOf([data, service])(key?.Properties.KeyPolicy);
    for (const indent of [0, 2]) {
      const edited = execFileSync("sed", [edit], { input: JSON.stringify(policy, null, indent), encoding: "utf8" });
      expect(edited.match(/\w+-Service-\w+/g)).toEqual([
        "Prodeu-Service-CheckIdentityRole",
        "Prodeu-Service-AnswerSubjectsRole",
      ]);
    }
  });
});

describe("an adopted ledger", () => {
  const secretIdsIn = ({ all }: typeof data): readonly string[] =>
    all("AWS::SecretsManager::Secret").map(({ id }) => id.replace(/[0-9A-F]{8}$/, ""));

  const { adopt, identityKeyArn = "" } = changedSettings("prod", stageVariants.adopted?.[1]);
  const adopted = templatesOf("prod", stageVariants.adopted?.[1]);

  test("a stage that names its identity key makes none, and its function hashes with that one", () => {
    expect([...adopted.data.all("AWS::KMS::Key"), ...adopted.data.all("AWS::KMS::Alias")]).toEqual([]);
    expect(adopted.service.outputs.IdentityKeyArn?.Value).toBe(identityKeyArn);
    expect(JSON.stringify(adopted.service.all("AWS::IAM::Policy"))).toContain(identityKeyArn);
  });

  test("the outputs of the stacks say which tables, key, copy and zones are their own, by which deploy orders and refuses", () => {
    const own = (settings: object, part: "data" | "network", setting: keyof typeof OWN_EXPORTS): number =>
      Object.keys(templatesOf("prod", settings)[part]?.outputs ?? {}).filter((key) => OWN_EXPORTS[setting].test(key))
        .length;
    for (const setting of ["adopt", "identityKeyArn"] as const) {
      expect(own({}, "data", setting), setting).toBeGreaterThan(0);
      expect(own(stageVariants.adopted?.[1] ?? {}, "data", setting), setting).toBe(0);
    }
    expect([own(everyFunction, "data", "auditCopy"), own({}, "data", "auditCopy")]).toEqual([1, 0]);
    const stagesOfZones = [
      stageVariants["one zone, and a budget"]?.[1],
      {},
      stageVariants["three zones with addresses"]?.[1],
    ];
    expect(stagesOfZones.map((settings = {}) => own(settings, "network", "egress"))).toEqual([1, 2, 3]);
  });

  test("a stage that adopts a ledger uses its tables and keys, and creates only the cache", () => {
    expect(adopted.data.all("AWS::DynamoDB::Table").map(({ id }) => id.slice(0, 5))).toEqual(["Cache"]);
    expect(secretIdsIn(adopted.data)).toEqual(
      secretIdsIn(data).filter((id) => !["ReferenceKey", "ChecksumKey", "WebhookKey"].includes(id)),
    );
    const purchase = adopted.service
      .all("AWS::Lambda::Function")
      .find(({ Properties }) => Properties.FunctionName === "prod-airtime-purchase");
    expect(purchase?.Properties.Environment).toMatchObject({
      Variables: {
        ACCESS_TABLE: "access",
        LEDGER_TABLE: "ledger",
        REFERENCE_KEY_SECRET_ID: expect.stringContaining("secret:reference-key-a1b2c3"),
      },
    });
    const sources = adopted.service.all("AWS::Lambda::EventSourceMapping");
    expect(sources.map(({ Properties }) => Properties.EventSourceArn)).toContain(adopt?.ledgerStreamArn);
    const policies = JSON.stringify(adopted.service.all("AWS::IAM::Policy"));
    expect(policies).toContain(":table/ledger/index/by_list");
  });

  // CloudFormation does not remove an export that another stack imports, and imports none that does not exist.
  test.each<[string, object, object]>([
    ["that adopts a ledger", {}, stageVariants.adopted?.[1] ?? {}],
    ["that ends the copy of the audit log and the console", everyFunction, {}],
    ["that names another identity key", {}, { identityKeyArn }],
    ["with fewer zones", {}, stageVariants["one zone, and a budget"]?.[1] ?? {}],
  ])(
    "the service and the administrator's stack of a stage %s import what is deployed, so that they come first",
    (_, before, after) => {
      const [deployed, changed] = [templatesOf("prod", before), templatesOf("prod", after)];
      const exported = ["data", "network", "service"] as const satisfies readonly (keyof typeof deployed)[];
      const names = new Set(
        exported.flatMap((part) => Object.values(deployed[part]?.outputs ?? {}).map(({ Export }) => Export?.Name)),
      );
      for (const { every } of [changed.service, changed.administrator]) {
        const imports = [...JSON.stringify(every).matchAll(/"Fn::ImportValue":"([^"]+)"/g)].map(([, name]) => name);
        expect(imports.filter((name) => !names.has(name))).toEqual([]);
      }
    },
  );

  test("the outputs of the service name all that a stage adopts, by which deploy refuses others with a canary", () => {
    const { ledgerStreamArn: _, auditStreamArn: __, ...named } = adopt ?? {};
    const values = Object.values(adopted.service.outputs).map(({ Value }) => Value);
    expect(values).toEqual(expect.arrayContaining([...Object.values(named), identityKeyArn]));
    expect(Object.keys(named)).toHaveLength(6);
  });

  test("docs/recovery.md adopts a ledger by the administrator's stack and the command that deploys the service before the data", () => {
    const [, commands = ""] =
      /## Adopt a ledger.*?```\n(npm .*?)```/s.exec(readFileSync("docs/recovery.md", "utf8")) ?? [];
    expect(commands.trim().split("\n")).toEqual([
      "npm run deploy -- --stage prod --administrator",
      "npm run deploy -- --stage prod",
    ]);
  });

  test("a stage that adopts a ledger begins with purchases off, and another one with purchases on", () => {
    const initially = ({ all }: typeof service) =>
      all("AWS::Lambda::Function").flatMap(({ Properties }) =>
        [...JSON.stringify(Properties).matchAll(/"PURCHASES_INITIALLY":"(\w+)"/g)].map(([, value]) => value),
      );
    expect(initially(adopted.service)).toEqual(["off", "off", "off", "off"]);
    expect(initially(service)).toEqual(["on", "on", "on", "on"]);
  });

  test("the outputs have what the admin commands read", () => {
    expect(adopted.service.outputs.LedgerTable?.Value).toBe("ledger");
    expect(idIn(service.outputs.OutcomesQueueUrl?.Value)).toMatch(/^OutcomesQueue/);
    for (const name of ["ApiUrl", "WebhookUrl", "DashboardUrl", "AccessTable", "UpstreamKeySecretId"]) {
      expect(service.outputs, name).toHaveProperty(name);
    }
  });
});
