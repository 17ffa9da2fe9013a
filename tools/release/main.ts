import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { projectRoot } from "../../infra/bundle/project-root.ts";
import { EXIT_FAILED } from "../../infra/exit-codes.ts";
import { buildClient } from "../client/build.ts";
import { buildPackage } from "../package/build.ts";
import { onlyOption, readArguments } from "../usage/arguments.ts";
import { outliveReaders } from "../usage/ended-reader.ts";
import { packFolder } from "../usage/pack-folder.ts";
import { temporaryFolder } from "../usage/temporary-folder.ts";
import { billOfMaterials } from "./bill-of-materials.ts";
import { isReleased, releasedVersions, releaseNotes, unreleasedText, withRelease } from "./changelog.ts";
import { compareSurfaces } from "./compare.ts";
import { deployedResources, updateProblems } from "./deployed-resources.ts";
import { provenance, type Subject } from "./provenance.ts";
import { publicSurface } from "./public-surface.ts";
import { readFirstProblems } from "./read-first.ts";
import {
  comparedVersions,
  otherVersions,
  read,
  recordedRelease,
  recordPaths,
  releasedGoldenFiles,
  versionOf,
  versionProblem,
} from "./releases.ts";
import { readByThisTree, unreadable, writeGolden } from "./stored-items.ts";

/**
 * `npm run release`: checks that this tree can be released as the version of package.json, and builds what a release
 * has into .local/release/files. With `--dry-run` what is missing is listed, and fails nothing. With `--prepare` it writes what
 * a release needs in the tree, to be committed. It neither tags nor publishes.
 */
outliveReaders();
const option = readArguments("npm run release -- [--dry-run | --prepare]", (args) =>
  onlyOption(args, "--dry-run", "--prepare"),
);
const git = (...args: readonly string[]): string =>
  execFileSync("git", args, { cwd: projectRoot, encoding: "utf8" }).trim();
const changelogs = ["CHANGELOG.md", "client/CHANGELOG.md"] as const;

const version = versionOf("package.json");
const tag = `v${version}`;
const paths = recordPaths(version);
const surface = await publicSurface();
const deployed = deployedResources();
const records = {
  [paths.surface]: `${JSON.stringify(surface, undefined, 1)}\n`,
  [paths.golden]: await writeGolden(),
  [paths.deployed]: `${JSON.stringify(deployed, undefined, 1)}\n`,
};
const isTagged = git("tag", "--list", tag) !== "";
/** The release before this one; its own record is replaced until it is tagged. */
const last = comparedVersions(version, releasedVersions(read("CHANGELOG.md")))
  .filter((each) => each !== version)
  .map(recordedRelease)[0];

const prepare = (): void => {
  if (isTagged) throw new Error(`${tag} exists: what it recorded stays as it is. Raise the version in package.json`);
  for (const [file, text] of Object.entries(records)) {
    mkdirSync(dirname(join(projectRoot, file)), { recursive: true });
    writeFileSync(join(projectRoot, file), text);
  }
  const day = new Date().toISOString().slice(0, 10);
  for (const file of changelogs) writeFileSync(join(projectRoot, file), withRelease(read(file), version, day));
};

const isCurrent = (file: string, text: string): boolean => existsSync(join(projectRoot, file)) && read(file) === text;

const earlierGolden = releasedGoldenFiles().filter((file) => file !== paths.golden);
const unreadableGolden = (await Promise.all(earlierGolden.map((file) => unreadable(read(file))))).flat();

/** Each check with what is wrong; empty if nothing is. */
const checks = (): Readonly<Record<string, readonly string[]>> => ({
  "one version": otherVersions(),
  "a version that says what changed": [last && versionProblem(version, surface, last)].filter(
    (each) => each !== undefined,
  ),
  "changelogs with its heading, and nothing after it": changelogs.flatMap((file) => [
    ...(isReleased(read(file), version)
      ? []
      : [`${file} has no "## ${version} - <day>": npm run release -- --prepare`]),
    ...(isReleased(read(file), version) && unreleasedText(read(file)) !== ""
      ? [`${file} has unreleased lines: move them below ${version}`]
      : []),
  ]),
  "its surface, golden file and resources": Object.entries(records)
    .filter(([file, text]) => !isCurrent(file, text))
    .map(([file]) => `${file} is not what this tree has: npm run release -- --prepare`),
  "earlier golden files can be read": unreadableGolden,
  "the last release reads what is stored": last ? readFirstProblems(last.reads, readByThisTree()) : [],
  "an update of a live stage": last ? updateProblems(last.deployed, deployed) : [],
  "a new tag": isTagged ? [`${tag} exists`] : [],
  "nothing that is not committed": git("status", "--porcelain") === "" ? [] : ["git status names changes"],
});

const sha256 = (file: string): string => createHash("sha256").update(readFileSync(file)).digest("hex");

/** Builds the release's files, and returns them. */
const buildFiles = async (folder: string): Promise<readonly Subject[]> => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const scratch = temporaryFolder("release-");
  await buildPackage(join(scratch, "service"));
  await packFolder(join(scratch, "service"), folder);
  await buildClient(join(scratch, "client"));
  await packFolder(join(scratch, "client"), folder);
  writeFileSync(join(folder, "airtime.cdx.json"), billOfMaterials());
  copyFileSync(join(projectRoot, "docs/openapi.json"), join(folder, "openapi.json"));
  writeFileSync(join(folder, "release-notes.md"), `${releaseNotes(read("CHANGELOG.md"), version)}\n`);
  const subjects = readdirSync(folder)
    .toSorted()
    .map((name) => ({ name, sha256: sha256(join(folder, name)) }));
  const lockFile = { name: "package-lock.json", sha256: sha256(join(projectRoot, "package-lock.json")) };
  const { GITHUB_WORKFLOW_REF: builder = "a developer's machine" } = process.env;
  const statement = provenance({ subjects, version, commit: git("rev-parse", "HEAD"), lockFile, builder });
  writeFileSync(join(folder, "provenance.json"), `${JSON.stringify(statement, undefined, 2)}\n`);
  writeFileSync(join(folder, "SHA256SUMS"), subjects.map(({ name, sha256: sum }) => `${sum}  ${name}\n`).join(""));
  return subjects;
};

if (option === "--prepare") prepare();
const found = Object.entries(checks());
console.log(`Release ${version}${option === "--dry-run" ? ", a dry run" : ""}\n`);
for (const [name, problems] of found) {
  console.log(`${problems.length === 0 ? "ok     " : "missing"} ${name}`);
  for (const problem of problems) console.log(problem.replaceAll(/^/gm, "          "));
}
const compared = last && compareSurfaces(last.surface, surface);
console.log(
  compared === undefined
    ? `\nThe first release: ${Object.keys(surface.offers).length} parts of the public surface are recorded.`
    : `\nSince ${last?.version}: ${compared.added.length} parts of the public surface added, ${compared.breaking.length} broken.`,
);
const isReady = found.every(([, problems]) => problems.length === 0);
if (option === "--prepare") console.log(`\nCommit ${Object.keys(records).join(", ")} and ${changelogs.join(", ")}.`);
else if (isReady || option === "--dry-run") {
  const folder = join(projectRoot, ".local/release/files");
  await buildFiles(folder);
  console.log(`\nBuilt in ${folder}:`);
  for (const name of readdirSync(folder))
    console.log(`  ${name} (${statSync(join(folder, name)).size.toLocaleString("en")} bytes)`);
  console.log(
    `\nThe workflow Release tests the commit, does the same, signs the provenance and tags it ${tag}. It publishes nothing.`,
  );
} else process.exitCode = EXIT_FAILED;
