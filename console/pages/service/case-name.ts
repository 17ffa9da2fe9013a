import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";

type Case = Pick<ActionOutput<"reconciliation cases show">, "case" | "order" | "row">;

/** What a case is called: by references and by its line in a file of the day, which people have before them. */
export const caseName = ({ case: id, order, row }: Case): string => {
  const names = [
    order?.reference ?? row?.reference,
    row?.upstream_reference ?? order?.upstream_reference,
    row && `file ${row.file + 1}, line ${row.line}`,
  ].filter((name) => name !== undefined);
  return names.length === 0 ? id : names.join(", ");
};
