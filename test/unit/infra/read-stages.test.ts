import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { readStages, THROW_AWAY_STAGE } from "../../../infra/read-stages.ts";
import { type Stages, sells, settingsOf } from "../../../infra/stage-settings.ts";
import { stages } from "../../../stages.ts";
import { temporaryFolder } from "../../builders/run/cleanups.ts";

test("the stages are those of stages.ts in the folder in which a command runs", async () => {
  expect(await readStages()).toEqual(stages);
});

describe("a folder without usable stages is refused with one sentence", () => {
  test("where there is no stages.ts", async () => {
    const folder = temporaryFolder();
    await expect(readStages(folder)).rejects.toThrow(
      `There is no ${join(folder, "stages.ts")}. Run the command in your repository, or npx airtime init to make one.`,
    );
  });

  test.each([
    [
      "export default {};",
      "stages.ts exports no stages. It must contain: export const stages = defineStages({ ... }).",
    ],
    ['throw new Error("broken");', "stages.ts, line 1, cannot be read. Error: broken"],
  ])("where stages.ts is %j", async (text, sentence) => {
    const own = temporaryFolder();
    writeFileSync(join(own, "stages.ts"), text);
    await expect(readStages(own)).rejects.toThrow(sentence);
  });
});

const stagesWith = async (throwAway: object): Promise<Stages> => {
  vi.stubEnv(THROW_AWAY_STAGE, JSON.stringify(throwAway));
  return readStages().finally(() => vi.unstubAllEnvs());
};
const simulated = { region: "eu-west-1", upstreamBaseUrl: "https://simulator.example.com/v1" };

test("a throw-away stage has the region and the upstream of its variable, and cannot sell", async () => {
  const settings = settingsOf("try", await stagesWith({ stage: "try", ...simulated }));
  expect(settings).toMatchObject({ ...simulated, egress: { kind: "none" } });
  expect(sells(settings)).toBe(false);
});

test("a throw-away stage never replaces a committed one, and adds no other setting", async () => {
  expect(await stagesWith({ stage: "prod", ...simulated })).toEqual(stages);
  await expect(
    stagesWith({ stage: "try", ...simulated, egress: { kind: "nat-gateway", zones: ["us-east-1a"] } }),
  ).rejects.toThrow();
});
