import { sections } from "virtual:runbook/sections";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useMemo } from "react";
import * as z from "#zod";
import { useFilters } from "../../api/use-filters.ts";
import { Empty } from "../../components/page/empty.tsx";
import { Focused } from "../../components/page/focused.tsx";
import { type Block, blocksOf, type Span, spansOf } from "../../components/page/markdown.ts";
import { Page, Section } from "../../components/page/page.tsx";
import { PageLink, runbookPath } from "../../components/page/page-link.tsx";
import { Loading } from "../../components/page/query.tsx";
import { DataTable } from "../../components/table/data-table.tsx";
import styles from "./runbook.module.css";

const filters = z.object({ section: z.catch(z.optional(z.string()), undefined) });

/** docs/runbook.md: one section, or the list of all. */
export const RunbookPage = () => {
  const [{ section: slug }] = useFilters(filters);
  const shown = sections.find((section) => section.slug === slug);
  const { data: text } = useQuery({
    queryKey: ["runbook", slug],
    queryFn: async () => (await shown?.text())?.default ?? null,
    staleTime: Number.POSITIVE_INFINITY,
    throwOnError: true,
  });
  return (
    <Page
      description="What to do about an alarm or a banner. Its commands are those of npm run admin."
      actions={slug !== undefined && <PageLink to="/runbook">All sections</PageLink>}
    >
      {slug === undefined && (
        <ul className={styles.sections}>
          {sections.map(({ title, slug: to }) => (
            <li key={to}>
              <PageLink to={runbookPath(title)}>{title}</PageLink>
            </li>
          ))}
        </ul>
      )}
      {slug !== undefined && shown === undefined && <Empty>The runbook has no such section.</Empty>}
      {shown !== undefined && (
        <Focused subject={shown.title}>
          <Section title={shown.title}>{typeof text === "string" ? <Blocks text={text} /> : <Loading />}</Section>
        </Focused>
      )}
    </Page>
  );
};

const Blocks = ({ text }: { readonly text: string }) => {
  const blocks = useMemo(() => blocksOf(text), [text]);
  // biome-ignore lint/suspicious/noArrayIndexKey: The blocks of a text do not change their places.
  return blocks.map((block, index) => <BlockView key={index} block={block} />);
};

const BlockView = ({ block }: { readonly block: Block }) => {
  switch (block.kind) {
    case "heading":
      return <h3>{block.text}</h3>;
    case "code":
      return <pre className={styles.code}>{block.text}</pre>;
    case "paragraph":
      return <p>{spans(block.text)}</p>;
    case "list":
    case "steps": {
      const List = block.kind === "list" ? "ul" : "ol";
      return (
        <List>
          {block.items.map((item) => (
            <li key={item}>{spans(item)}</li>
          ))}
        </List>
      );
    }
    case "table":
      return (
        <DataTable
          label={block.head.join(", ")}
          columns={block.head.map((header, index) => ({
            header,
            cell: (row: readonly string[]) => spans(row[index] ?? ""),
          }))}
          rows={block.rows}
          rowKey={(row) => row.join("|")}
          emptyText=""
        />
      );
  }
};

const spans = (text: string): ReactNode =>
  // biome-ignore lint/suspicious/noArrayIndexKey: The spans of a text do not change their places.
  spansOf(text).map((span, index) => <SpanView key={index} {...span} />);

const SpanView = ({ kind, text, to }: Span) => {
  if (kind === "code") return <code className={styles.name}>{text}</code>;
  if (kind === "bold") return <strong>{spans(text)}</strong>;
  if (kind === "italic") return <em>{text}</em>;
  // Other documents are in the repository alone.
  if (kind === "link" && to?.startsWith("#") === true) {
    return <PageLink to={`/runbook?section=${to.slice(1)}`}>{text}</PageLink>;
  }
  return text;
};
