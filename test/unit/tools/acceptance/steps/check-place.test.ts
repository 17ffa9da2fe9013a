import { afterAll, beforeEach, expect, test } from "vitest";
import { SettingsError } from "../../../../../infra/settings-error.ts";
import { stages } from "../../../../../stages.ts";
import { assertNewStage, signInTo } from "../../../../../tools/acceptance/steps/check-place.ts";
import { FAKE_ACCOUNT, startFakeAws } from "../../../../builders/aws/fake-aws.ts";

/** Goal: an acceptance never begins in a place where it could harm a stage that is used. */
const aws = await startFakeAws();
afterAll(() => aws.stop());
beforeEach(() => aws.enter({ AWS_ACCESS_KEY_ID: "AKIAENV", AWS_SECRET_ACCESS_KEY: "env" }));

const { prod } = stages;
if (prod === undefined) throw new Error("There is no stage prod");
const place = { stage: "try", region: "eu-west-1" };

test("the account of a stage that sells is refused before anything but the caller's identity is asked for", async () => {
  const known = { ...stages, prod: { ...prod, account: FAKE_ACCOUNT, region: "us-east-1" } };
  const refused = signInTo(place, known);
  await expect(refused).rejects.toThrow(SettingsError);
  await expect(refused).rejects.toThrow(`AWS account ${FAKE_ACCOUNT} is that of stage "prod"`);
  expect(aws.requests.map(({ Action }) => Action)).toEqual(["GetCallerIdentity"]);
});

test("another account is accepted, in the region of the command and not in that of the environment", async () => {
  process.env.AWS_REGION = "us-west-2";
  expect(await signInTo(place, stages)).toBe(FAKE_ACCOUNT);
  expect(process.env.AWS_REGION).toBe("eu-west-1");
});

test.each([
  ["prod", 'Stage "prod" is in stages.ts.'],
  ["sandbox", 'Stage "sandbox" is in stages.ts.'],
  ["Try", "A stage's name is 1 to 16 lower-case letters and digits"],
  ["try-again", "A stage's name is 1 to 16 lower-case letters and digits"],
])("the name %s of a throw-away stage is refused: %s", (stage, sentence) => {
  expect(() => assertNewStage(stage, stages)).toThrow(sentence);
});
