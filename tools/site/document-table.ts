import { markdownTable } from "../markdown/markdown.ts";
import { kindTitles, nameOf, pageKinds, pageList } from "./page-list.ts";

/** The table of README.md: each other document, by kind. */
export const documentTable = (): string =>
  markdownTable([
    ["document", "kind", "for", "answers"],
    ...pageKinds.flatMap((kind) =>
      pageList
        .filter((page) => page.kind === kind && page.file !== "README.md")
        .map(({ file, reader, answers }) => [
          ...[`[${file}](${file})`, kindTitles[kind].toLowerCase(), nameOf(reader), answers],
        ]),
    ),
  ]);
