import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "#zod";
import { projectRoot } from "../../infra/bundle/project-root.ts";
import { releasedVersions } from "./changelog.ts";
import { compareSurfaces, compareVersions, leastVersion } from "./compare.ts";
import { type Deployed, deployedSchema } from "./deployed-resources.ts";
import { type Surface, surfaceSchema } from "./surface-schema.ts";

export const read = (file: string): string => readFileSync(join(projectRoot, file), "utf8");

/** What a release promises, in `releases/<version>/`. The workflow Release tags the commit that has them. */
export const recordPaths = (version: string) =>
  ({
    surface: `releases/${version}/surface.json`,
    golden: `releases/${version}/stored-items.json`,
    deployed: `releases/${version}/deployed-resources.json`,
  }) as const;

/** The packages whose versions are the release's, and what repeats them. */
const manifests = ["package.json", "package-lock.json", "client/package.json"] as const;
const versioned = z.object({ version: z.string() });
export const versionOf = (manifest: (typeof manifests)[number]): string =>
  versioned.parse(JSON.parse(read(manifest))).version;

/** The manifests that have another version than package.json. */
export const otherVersions = (): readonly string[] => {
  const version = versionOf("package.json");
  return manifests
    .filter((manifest) => versionOf(manifest) !== version)
    .map((manifest) => `${manifest} has ${versionOf(manifest)}, package.json ${version}`);
};

export const releasedGoldenFiles = (): readonly string[] =>
  releasedVersions(read("CHANGELOG.md")).map((version) => recordPaths(version).golden);

export type Release = {
  readonly version: string;
  readonly surface: Surface;
  readonly deployed: Deployed;
  /** What it reads of what is stored. */
  readonly reads: Surface;
};

const goldenReads = z.object({ reads: surfaceSchema });

/** Why this version cannot have this surface, after a release with that one; undefined if it can. */
export const versionProblem = (
  version: string,
  surface: Surface,
  last: Pick<Release, "version" | "surface">,
): string | undefined => {
  const { level, breaking, added } = compareSurfaces(last.surface, surface);
  const least = leastVersion(last.version, level);
  if (compareVersions(version, least) >= 0) return undefined;
  const reasons = level === "major" ? breaking : added.map((each) => `added: ${each}`);
  return `The version must be ${least} at least, because since ${last.version}:\n${reasons.join("\n")}`;
};

/**
 * The released versions with which this one is compared: the one before it, and itself once it is released, because its
 * record has to stay as it is.
 */
export const comparedVersions = (version: string, released: readonly string[]): readonly string[] => [
  ...released.filter((each) => each === version),
  ...released.filter((each) => compareVersions(each, version) < 0).slice(0, 1),
];

/** A released version, as the tree has it. */
export const recordedRelease = (version: string): Release => ({
  version,
  surface: surfaceSchema.parse(JSON.parse(read(recordPaths(version).surface))),
  deployed: deployedSchema.parse(JSON.parse(read(recordPaths(version).deployed))),
  reads: goldenReads.parse(JSON.parse(read(recordPaths(version).golden))).reads,
});
