import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as z from "#zod";
import { projectRoot } from "../../infra/bundle/project-root.ts";

const Manifest = z.looseObject({ devDependencies: z.optional(z.unknown()) });
const LockFile = z.looseObject({ packages: z.record(z.string(), z.looseObject({ dev: z.optional(z.boolean()) })) });

/**
 * The software bill of materials of what is deployed, as CycloneDX. `npm sbom --omit=dev` leaves out each package that a development
 * dependency needs too, such as clients of the AWS SDK (npm/cli 7909). So npm gets files without development dependencies.
 */
export const billOfMaterials = (): string => {
  const read = (name: string): unknown => JSON.parse(readFileSync(join(projectRoot, name), "utf8"));
  const { devDependencies: _tools, ...manifest } = Manifest.parse(read("package.json"));
  const lockFile = LockFile.parse(read("package-lock.json"));
  const packages = Object.entries(lockFile.packages).filter(([, { dev }]) => dev !== true);
  const deployed = packages.map(([path, { devDependencies: _own, ...locked }]) => [path, locked]);
  const folder = mkdtempSync(join(tmpdir(), "bill-of-materials-"));
  const write = (name: string, content: unknown): void => writeFileSync(join(folder, name), JSON.stringify(content));
  write("package.json", manifest);
  write("package-lock.json", { ...lockFile, packages: Object.fromEntries(deployed) });
  try {
    const options = ["--package-lock-only", "--sbom-format=cyclonedx"];
    return execFileSync("npm", ["sbom", ...options], { cwd: folder, encoding: "utf8" });
  } finally {
    rmSync(folder, { recursive: true });
  }
};

// As a step of the workflow Check runs it.
if (import.meta.main) process.stdout.write(billOfMaterials());
