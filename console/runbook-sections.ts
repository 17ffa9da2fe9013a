import { readFileSync } from "node:fs";
import { sectionsOf } from "./components/page/markdown.ts";

const PREFIX = "virtual:runbook/";

/** Serves docs/runbook.md as modules: `virtual:runbook/sections`, and one for the text of each section. */
export const runbookSections = (documentPath: string) => {
  const sections = () => sectionsOf(readFileSync(documentPath, "utf8"));
  return {
    name: "runbook-sections",
    resolveId: (id: string) => (id.startsWith(PREFIX) ? `\0${id}` : undefined),
    load: (id: string) => {
      if (!id.startsWith(`\0${PREFIX}`)) return undefined;
      const slug = id.slice(PREFIX.length + 1);
      if (slug !== "sections") {
        return `export default ${JSON.stringify(sections().find((section) => section.slug === slug)?.text)}`;
      }
      const entries = sections().map(
        ({ title, slug: name }) =>
          `{ title: ${JSON.stringify(title)}, slug: "${name}", text: () => import("${PREFIX}${name}") }`,
      );
      return `export const sections = [${entries.join(",")}]`;
    },
  };
};
