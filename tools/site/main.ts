import { spawnSync } from "node:child_process";
import { globSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "../../infra/bundle/project-root.ts";
import { EXIT_FAILED } from "../../infra/exit-codes.ts";
import { onlyOption, readArguments } from "../usage/arguments.ts";
import { pageFiles } from "./page-list.ts";
import { writeSources } from "./write-sources.ts";

const SHORT_PAGES = 4;

/**
 * `npm run site`: builds the documentation into .local/site/dist, and fails if a link of it leads to no page. With
 * `--short` it builds some pages, whose links to the others lead nowhere.
 */
const isShort = readArguments("npm run site -- [--short]", (args) => onlyOption(args, "--short")) !== undefined;
const folder = join(projectRoot, ".local/site");
const all = pageFiles();
writeSources(folder, isShort ? all.slice(0, SHORT_PAGES) : all);
const { status } = spawnSync(
  process.execPath,
  [join(projectRoot, "site/node_modules/vitepress/bin/vitepress.js"), "build"],
  {
    cwd: join(projectRoot, "site"),
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, ...(isShort && { SITE_IS_SHORT: "true" }) },
  },
);
if (status !== 0) {
  process.exitCode = EXIT_FAILED;
} else {
  const dist = join(folder, "dist");
  console.log(`${globSync("**/*.html", { cwd: dist }).length} pages in ${dist}`);
  console.log(`To read them: npx vitepress preview, in site/. Any web server for files can serve the folder.`);
}
