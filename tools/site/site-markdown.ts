import { posix } from "node:path";

/**
 * The path of a document on the site: `docs/webhooks.md` is `webhooks.md`, `client/README.md` is `client/index.md`. A
 * file of code that a document links to is shown on a page of its own.
 */
export const sitePathOf = (file: string): string => {
  const path = file.replace(/^docs\//, "").toLowerCase();
  if (isPicture(path)) return path;
  return path.endsWith(".md")
    ? path.replace(/(^|\/)readme\.md$/, "$1index.md")
    : `${path.replace(/\.(\w+)$/, "-$1")}.md`;
};

export const isPicture = (file: string): boolean => /\.(png|svg)$/.test(file);

/** A link or picture within a repository: its text, the file that it leads to, and the heading in it with `#`. */
const LINK = /\]\((?!https?:)([^)\s#]*)(#[^)\s]*)?\)/g;

const FENCE = /^( *```[^\n]*\n[\s\S]*?^ *```[^\n]*$)/m;

/** Applies a change to the text outside of code blocks. */
const outsideOfCode = (markdown: string, change: (text: string) => string): string =>
  markdown
    .split(new RegExp(FENCE, "gm"))
    .map((part, index) => (index % 2 === 0 ? change(part) : part))
    .join("");

const targetOf = (file: string, path: string): string => posix.join(posix.dirname(file), path);

export const linkedFiles = (file: string, markdown: string): readonly string[] => {
  const found: string[] = [];
  outsideOfCode(markdown, (text) => {
    for (const [, path] of text.matchAll(LINK)) if (path) found.push(targetOf(file, path));
    return text;
  });
  return found;
};

/** A document as the site's generator reads it: links by path of the site, without the marks of generated parts. */
export const siteMarkdown = (file: string, markdown: string): string =>
  outsideOfCode(markdown, (text) =>
    text
      .replaceAll(/<!--[\s\S]*?-->\n?/g, "")
      .replaceAll(LINK, (_link, path: string, anchor = "") =>
        path === "" ? `](${anchor})` : `](/${sitePathOf(targetOf(file, path))}${anchor})`,
      ),
  );

export const codePage = (file: string, code: string): string =>
  `# ${posix.basename(file)}\n\n\`\`\`${posix.extname(file).slice(1)}\n${code.trimEnd()}\n\`\`\`\n`;

/** As GitHub makes it, so that a link works in the repository and on the site. */
export const anchorOf = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
