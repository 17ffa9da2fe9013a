import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { projectRoot } from "../../infra/bundle/project-root.ts";
import { decisionFiles, kindTitles, nameOf, type Page, pageKinds, pageList, readers, titleOf } from "./page-list.ts";
import { codePage, isPicture, linkedFiles, siteMarkdown, sitePathOf } from "./site-markdown.ts";

type Entry = { readonly text: string; readonly link: string };
type Group = { readonly text: string; readonly collapsed?: boolean; readonly items: readonly (Entry | Group)[] };

const read = (file: string): string => readFileSync(join(projectRoot, file), "utf8");
const linkOf = (file: string): string =>
  `/${sitePathOf(file)
    .replace(/(^|\/)index\.md$/, "$1")
    .replace(/\.md$/, ".html")}`;
const entryOf = (file: string): Entry => ({ text: titleOf(file).replaceAll("`", ""), link: linkOf(file) });

/** The navigation: pages by kind and reader, and the decisions. */
export const sidebar = (): readonly Group[] =>
  pageKinds.map((kind) => {
    const pages = pageList.filter((page) => page.kind === kind);
    const groups = readers.flatMap((reader): Group[] => {
      const own = pages.filter((page) => page.reader === reader);
      return own.length === 0 ? [] : [{ text: `For ${nameOf(reader)}`, items: own.map(({ file }) => entryOf(file)) }];
    });
    const decisions: Group[] =
      kind === "explanation" ? [{ text: "Decisions", collapsed: true, items: decisionFiles().map(entryOf) }] : [];
    return { text: kindTitles[kind], items: [...groups, ...decisions] };
  });

/** Text for language models (https://llmstxt.org): what the service is, and every page as Markdown with what it answers. */
export const llmsText = (): string => {
  const [, title = "", summary = ""] =
    /^# (.+)\n\n([\s\S]+?)\n\n/.exec(siteMarkdown("README.md", read("README.md"))) ?? [];
  const line = ({ file, answers }: Page): string => `- [${titleOf(file)}](/${sitePathOf(file)}): ${answers}`;
  const sections = pageKinds.map((kind) => {
    const pages = pageList.filter((page) => page.kind === kind);
    return `## ${kindTitles[kind]}\n\n${pages.map(line).join("\n")}\n`;
  });
  const openApi = "- [OpenAPI document](/openapi.json): the interface for programs\n";
  return `# ${title}\n\n> ${summary.replaceAll("\n", " ")}\n\n${sections.join("\n").replace("## Explanation", `${openApi}\n## Explanation`)}`;
};

/**
 * Writes what the site's generator reads: `pages` with these documents and what they link to, `pages/public` with what the
 * site has as it is, and `sidebar.json`.
 */
export const writeSources = (folder: string, pages: readonly string[]): void => {
  rmSync(folder, { recursive: true, force: true });
  const write = (path: string, content: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  };
  for (const file of pages) {
    const markdown = siteMarkdown(file, read(file));
    write(`pages/${sitePathOf(file)}`, markdown);
    write(`pages/public/${sitePathOf(file)}`, markdown);
  }
  const others = new Set(pages.flatMap((file) => linkedFiles(file, read(file))));
  for (const file of others) {
    if (isPicture(file)) cpSync(join(projectRoot, file), join(folder, "pages/public", sitePathOf(file)));
    else if (!file.endsWith(".md")) write(`pages/${sitePathOf(file)}`, codePage(file, read(file)));
  }
  const packages = join(projectRoot, "site/node_modules");
  cpSync(join(packages, "@mermaid-js/tiny/dist/mermaid.tiny.js"), join(folder, "pages/public/mermaid.js"));
  // What the compiled pages import is found from their folder.
  symlinkSync(packages, join(folder, "node_modules"));
  write("pages/public/openapi.json", read("docs/openapi.json"));
  write("pages/public/llms.txt", llmsText());
  write("sidebar.json", JSON.stringify(sidebar()));
};
