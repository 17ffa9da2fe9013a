/** A part of a document in Markdown, as far as docs/runbook.md uses it. */
export type Block =
  | { readonly kind: "heading" | "code" | "paragraph"; readonly text: string }
  /** `steps` are numbered: the text refers to them by their numbers. */
  | { readonly kind: "list" | "steps"; readonly items: readonly string[] }
  | { readonly kind: "table"; readonly head: readonly string[]; readonly rows: readonly (readonly string[])[] };

export type Section = { readonly title: string; readonly slug: string; readonly text: string };

/** The sections below headings of the second level, by the names that links give them. */
export const sectionsOf = (document: string): readonly Section[] =>
  document
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const [title = "", ...lines] = section.split("\n");
      return { title, slug: slugOf(title), text: lines.join("\n") };
    });

/** As GitHub makes it of a heading. */
export const slugOf = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, "")
    .replaceAll(" ", "-");

/** Code between its fences, and what empty lines separate. */
export const blocksOf = (text: string): readonly Block[] =>
  text.split(/^```\w*\n(.*?)^```$/ms).flatMap((part, index): readonly Block[] =>
    index % 2 === 1
      ? [{ kind: "code", text: part.trimEnd() }]
      : part
          .split(/\n{2,}/)
          .filter((each) => each.trim() !== "")
          .map((each) => blockOf(each.trim())),
  );

const blockOf = (text: string): Block => {
  if (text.startsWith("### ")) return { kind: "heading", text: text.slice(4) };
  if (/^(-|\d+\.) /.test(text)) {
    return {
      kind: text.startsWith("-") ? "list" : "steps",
      items: text
        .split(/^(?:-|\d+\.) /m)
        .slice(1)
        .map(onOneLine),
    };
  }
  if (!text.startsWith("|")) return { kind: "paragraph", text: onOneLine(text) };
  const [head = [], , ...rows] = text.split("\n").map((line) =>
    line
      .slice(1, -1)
      .split("|")
      .map((cell) => cell.trim()),
  );
  return { kind: "table", head, rows };
};

const onOneLine = (text: string): string => text.replaceAll(/\s+/g, " ").trim();

export type Span = {
  readonly kind: "text" | "code" | "bold" | "italic" | "link";
  readonly text: string;
  /** Where a link leads to. */
  readonly to?: string;
};

const SPAN = /(`[^`]+`|\*\*.+?\*\*|\*[^*]+\*|\[[^\]]+\]\([^)]+\))/;

/** The text of a block, in spans of one kind. */
export const spansOf = (text: string): readonly Span[] =>
  text
    .split(SPAN)
    .filter((span) => span !== "")
    .map((span) => {
      const [, label, to] = /^\[([^\]]+)\]\(([^)]+)\)$/.exec(span) ?? [];
      if (label !== undefined && to !== undefined) return { kind: "link", text: label, to };
      if (/^`.+`$/.test(span)) return { kind: "code", text: span.slice(1, -1) };
      if (/^\*\*.+\*\*$/.test(span)) return { kind: "bold", text: span.slice(2, -2) };
      if (/^\*.+\*$/.test(span)) return { kind: "italic", text: span.slice(1, -1) };
      return { kind: "text", text: span };
    });
