import { describe, expect, test } from "vitest";
import { tables } from "../../../../infra/tables.ts";
import { type SecretKind, secretNames, secretTable } from "../../../../shared/platform/secret-table.ts";
import { idIn, templatesOf } from "../../../builders/templates.ts";

const { data, service } = templatesOf("prod");
const found = data.all("AWS::DynamoDB::Table");
const isDurable = { PointInTimeRecoveryEnabled: true };

describe("tables", () => {
  test("there are three tables, and access and ledger are protected and retained", () => {
    expect(found).toHaveLength(Object.keys(tables).length);
    const durable = found.filter(({ Properties }) => Properties.DeletionProtectionEnabled === true);
    expect(durable.map(({ id }) => id.replace(/[0-9A-F]{8}$/, ""))).toEqual(["Access", "Ledger"]);
    for (const table of durable) {
      expect(table).toMatchObject({
        // Also when its creation is rolled back, which could not delete what is protected.
        DeletionPolicy: "Retain",
        UpdateReplacePolicy: "Retain",
        Properties: { PointInTimeRecoverySpecification: isDurable },
      });
    }
  });

  test("every table is encrypted and paid by request, and the ledger has the indexes of infra/tables.ts", () => {
    for (const { Properties } of found) {
      expect(Properties).toMatchObject({ BillingMode: "PAY_PER_REQUEST", SSESpecification: { SSEEnabled: true } });
    }
    const ledger = found.find(({ id }) => id.startsWith("Ledger"));
    expect(ledger?.Properties.GlobalSecondaryIndexes).toMatchObject(
      tables.ledger.indexes.map(({ name }) => ({ IndexName: name })),
    );
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

describe("an adopted ledger", () => {
  const secretIdsIn = ({ all }: typeof data): readonly string[] =>
    all("AWS::SecretsManager::Secret").map(({ id }) => id.replace(/[0-9A-F]{8}$/, ""));

  const region = "arn:aws:dynamodb:eu-west-1:111122223333:table/old-ledger/stream/2026-01-01T00:00:00.000";
  const adopted = templatesOf("prod", {
    adopt: {
      accessTableName: "old-access",
      ledgerTableName: "old-ledger",
      ledgerStreamArn: region,
      referenceKeySecretArn: "arn:aws:secretsmanager:eu-west-1:111122223333:secret:reference-AbCdEf",
      webhookKeySecretArn: "arn:aws:secretsmanager:eu-west-1:111122223333:secret:webhook-AbCdEf",
    },
  });

  test("a stage that adopts a ledger uses its tables and keys, and creates only the cache", () => {
    expect(adopted.data.all("AWS::DynamoDB::Table").map(({ id }) => id.slice(0, 5))).toEqual(["Cache"]);
    expect(secretIdsIn(adopted.data)).toEqual(
      secretIdsIn(data).filter((id) => !["ReferenceKey", "WebhookKey"].includes(id)),
    );
    const purchase = adopted.service
      .all("AWS::Lambda::Function")
      .find(({ Properties }) => Properties.FunctionName === "prod-airtime-purchase");
    expect(purchase?.Properties.Environment).toMatchObject({
      Variables: {
        ACCESS_TABLE: "old-access",
        LEDGER_TABLE: "old-ledger",
        REFERENCE_KEY_SECRET_ID: expect.stringContaining("secret:reference-AbCdEf"),
      },
    });
    const sources = adopted.service.all("AWS::Lambda::EventSourceMapping");
    expect(sources.map(({ Properties }) => Properties.EventSourceArn)).toContain(region);
    const policies = JSON.stringify(adopted.service.all("AWS::IAM::Policy"));
    expect(policies).toContain(":table/old-ledger/index/by_list");
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
    expect(adopted.service.outputs.LedgerTable?.Value).toBe("old-ledger");
    expect(idIn(service.outputs.OutcomesQueueUrl?.Value)).toMatch(/^OutcomesQueue/);
    for (const name of ["ApiUrl", "WebhookUrl", "DashboardUrl", "AccessTable", "UpstreamKeySecretId"]) {
      expect(service.outputs, name).toHaveProperty(name);
    }
  });
});
