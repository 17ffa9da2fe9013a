import { spawnSync } from "node:child_process";
import { globSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "../../infra/bundle/project-root.ts";
import { EXIT_FAILED } from "../../infra/exit-codes.ts";
import { onlyOption, readArguments } from "../usage/arguments.ts";
import { brokenLinks } from "./broken-links.ts";
import { pageFiles } from "./page-list.ts";
import { sitePathOf } from "./site-markdown.ts";
import { writeSources } from "./write-sources.ts";

const SHORT_PAGES = 4;

/**
 * `npm run site`: builds the documentation into .local/site/dist, and fails if a link of it is broken. With `--short` it
 * builds some pages, whose links to the others lead nowhere.
 */
const isShort = readArguments("npm run site -- [--short]", (args) => onlyOption(args, "--short")) !== undefined;
const folder = join(projectRoot, ".local/site");
const all = pageFiles();
const pages = isShort ? all.slice(0, SHORT_PAGES) : all;
writeSources(folder, pages);
const isLeftOut = (path: string): boolean =>
  isShort && all.some((file) => sitePathOf(file).replace(/\.md$/, ".html") === path);
const built = spawnSync(
  process.execPath,
  [join(projectRoot, "site/node_modules/vitepress/bin/vitepress.js"), "build"],
  {
    cwd: join(projectRoot, "site"),
    stdio: ["ignore", "pipe", "inherit"],
    encoding: "utf8",
  },
);
const dist = join(folder, "dist");
const broken = built.status === 0 ? brokenLinks(dist, isLeftOut, process.env.SITE_BASE) : [built.stdout];
if (broken.length > 0) {
  console.error(broken.join("\n"));
  process.exitCode = EXIT_FAILED;
} else {
  console.log(`${globSync("**/*.html", { cwd: dist }).length} pages in ${dist}, no broken links`);
  console.log(`To read them: npx vitepress preview, in site/. Any web server for files can serve the folder.`);
}
