import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { App } from "aws-cdk-lib";
import { zipSync } from "fflate";
import * as z from "#zod";
import { cdkJson } from "../../infra/cdk-json.ts";
import { addStage } from "../../infra/constructs/stage.ts";
import { filesBelow } from "../../infra/files-below.ts";
import { SettingsError } from "../../infra/settings-error.ts";
import type { StageSettings } from "../../infra/stage-settings.ts";

/** What CDK wrote about a stack's assets. */
const manifest = z.object({
  files: z.record(
    z.string(),
    z.object({
      source: z.object({ path: z.string(), packaging: z.string() }),
      destinations: z.record(z.string(), z.object({ objectKey: z.string() })),
    }),
  ),
});

/**
 * Writes a stage's templates, and the archives of its functions into `assets/`, for tools other than the CDK. Returns the
 * names of the stacks in the order in which they are deployed.
 */
export const writeTemplates = (stage: string, settings: StageSettings, folder: string): readonly string[] => {
  if (settings.recovery) {
    throw new SettingsError(`Stage "${stage}" has recovery, whose stacks in two regions only the CDK deploys.`);
  }
  assertMade(folder);
  const scratch = mkdtempSync(join(tmpdir(), "templates-"));
  try {
    const app = new App({ context: cdkJson.context, outdir: scratch, treeMetadata: false });
    const { data, network, service, administrator } = addStage(app, stage, settings, { isPortable: true });
    app.synth();
    const stacks = [data, ...(network ? [network] : []), service, administrator];
    for (const stack of stacks) {
      const { stackName, templateFile, artifactId } = stack;
      writeFileSync(join(folder, `${stackName}.json`), readFileSync(join(scratch, templateFile)));
      // It has no files beside its template, and so no list of them.
      if (stack === administrator) continue;
      const { files } = manifest.parse(JSON.parse(readFileSync(join(scratch, `${artifactId}.assets.json`), "utf8")));
      for (const { source, destinations } of Object.values(files)) {
        if (source.packaging !== "zip") continue;
        const archive = archiveOf(join(scratch, source.path));
        for (const { objectKey } of Object.values(destinations))
          writeFileSync(join(folder, "assets", objectKey), archive);
      }
    }
    return stacks.map(({ stackName }) => stackName);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
};

/** Before anything is built, which takes a minute. */
const assertMade = (folder: string): void => {
  try {
    makeFolder(join(folder, "assets"));
  } catch (error) {
    throw new SettingsError(
      `--output ${folder} cannot be made: ${error instanceof Error ? error.message : error}. Choose a folder below one that you may write to.`,
    );
  }
};

/** Not by Node's `recursive`, which never ends below a folder that takes no folders, such as /proc. */
const makeFolder = (folder: string): void => {
  if (existsSync(folder)) return;
  makeFolder(dirname(folder));
  mkdirSync(folder);
};

/** Regular files that everybody may read, made on Unix (3), at the first day that the format knows: equal files make equal archives. */
const AS_THE_CDK = { os: 3, attrs: 0o100644 << 16, mtime: new Date(1980, 0, 1) };

export const archiveOf = (folder: string): Uint8Array =>
  zipSync(
    Object.fromEntries(filesBelow(folder).map((file) => [relative(folder, file), readFileSync(file)])),
    AS_THE_CDK,
  );
