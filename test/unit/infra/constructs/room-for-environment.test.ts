import { Token } from "aws-cdk-lib";
import { expect, test } from "vitest";
import { assertRoomFor } from "../../../../infra/constructs/room-for-environment.ts";

const stage = "abcdefghijklmnop";
const [region, account] = ["ap-southeast-1", "000000000000"];
const host = `a1b2c3d4e5.execute-api.${region}.amazonaws.com`;
const part = (id: string): string => Token.asString({ Ref: id });

/** Each kind of variable that names what the deployment makes, as it is in the longest region. */
test.each([
  ["LEDGER_TABLE", part("Ledger"), `${stage}-Data-LedgerB7379752-1A2B3C4D5E6F7`],
  ["AUDIT_COPY_BUCKET", part("AuditCopy"), `${stage}-data-auditcopy1a2b3c4d-1a2b3c4d5e6f`],
  ["OUTCOMES_QUEUE_URL", part("Queue"), `https://sqs.${region}.amazonaws.com/${account}/${stage}-airtime-outcomes`],
  [
    "NOTIFICATIONS_TOPIC_ARN",
    part("Topic"),
    `arn:aws:sns:${region}:${account}:${stage}-Service-Notifications87298708-1A2B3C4D5E6F`,
  ],
  ["IDENTITY_KEY_ARN", part("Key"), `arn:aws:kms:${region}:${account}:key/mrk-0a1b2c3d0a1b0a1b0a1b0a1b2c3d4e5f`],
  [
    "UPSTREAM_TEST_KEY_SECRET_ID",
    part("Secret"),
    `arn:aws:secretsmanager:${region}:${account}:secret:UpstreamTestKey27393CDA-AbCdEfGhIjKl-AbCdEf`,
  ],
  ["CONSOLE_URL", `${part("Api")}/console`, `https://${host}/console`],
  ["WEBHOOK_REFUSED_HOSTS", `${part("Api")}.execute-api.${part("Region")}.${part("Suffix")}`, host],
])("what AWS inserts for %s is estimated to the length that it can have", (variable, value, inserted) => {
  const room = 4_096 - JSON.stringify({ [variable]: inserted, UPSTREAM_PROFILE: "" }).length;
  const profileOf = (length: number) => () =>
    assertRoomFor({ [variable]: value, UPSTREAM_PROFILE: "a".repeat(length) }, { stage, name: "purchase" });
  expect(profileOf(room + 1)).toThrow(/Shorten upstreamProfile \(\d+\)\.$/);
  expect(profileOf(room - 40)).not.toThrow();
});
