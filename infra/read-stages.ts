import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import * as z from "#zod";
import { SettingsError } from "./settings-error.ts";
import type { Stages } from "./stage-settings.ts";

/** The file with the stages, in the folder in which commands run. */
export const STAGES_FILE = "stages.ts";

/** The variable with a throw-away stage, as JSON. Only `npm run acceptance` sets it, for the commands that it runs. */
export const THROW_AWAY_STAGE = "THROW_AWAY_STAGE";

const throwAwayStage = z.strictObject({
  stage: z.string(),
  region: z.string(),
  upstreamBaseUrl: z.string(),
});
export type ThrowAwayStage = z.input<typeof throwAwayStage>;

/** Every stage that commands know. Throws a SettingsError if the file is missing, cannot be read, or exports no stages. */
export const readStages = async (folder: string = process.cwd()): Promise<Stages> => ({
  ...throwAwayStages(process.env[THROW_AWAY_STAGE]),
  ...(await committedStages(folder)),
});

/** The stages of the file alone: a terminal in which `THROW_AWAY_STAGE` is still set may run another acceptance. */
export const committedStages = (folder: string = process.cwd()): Promise<Stages> => stagesIn(join(folder, STAGES_FILE));

const stagesModule = z.object({ stages: z.custom<Stages>((value) => typeof value === "object" && value !== null) });

const stagesIn = async (path: string): Promise<Stages> => {
  if (!existsSync(path)) {
    throw new SettingsError(
      `There is no ${path}. Run the command in your repository, or npx airtime init to make one.`,
    );
  }
  const module = stagesModule.safeParse(await import(/* @vite-ignore */ pathToFileURL(path).href).catch(orUnreadable));
  if (module.success) return module.data.stages;
  throw new SettingsError(
    `${STAGES_FILE} exports no stages. It must contain: export const stages = defineStages({ ... }).`,
  );
};

/** The line is in the stack alone. */
const orUnreadable = (error: unknown): never => {
  const line = error instanceof Error ? /stages\.ts:(\d+)/.exec(error.stack ?? "")?.[1] : undefined;
  const place = line === undefined ? STAGES_FILE : `${STAGES_FILE}, line ${line},`;
  throw new SettingsError(`${place} cannot be read. ${error}`, { cause: error });
};

/**
 * A stage that `npm run acceptance` deploys and destroys. It has no network of its own, and its upstream is a
 * simulator, so that it cannot sell. It never takes the place of a committed stage.
 */
const throwAwayStages = (text: string | undefined): Stages => {
  if (text === undefined) return {};
  const { stage, region, upstreamBaseUrl } = throwAwayStage.parse(JSON.parse(text));
  return {
    [stage]: {
      region,
      upstreamBaseUrl,
      upstreamWebhookIps: [],
      upstreamProfile: { reference: "all", signature: { header: "x-webhook-signature", encoding: "hex" } },
      egress: { kind: "none" },
      identityPrices: {
        nin: { basic: 150, advanced: 250, retrieve: 400 },
        bvn: { basic: 100, advanced: 200, retrieve: 300 },
      },
      logRetentionDays: 7,
    },
  };
};
