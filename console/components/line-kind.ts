import type { ActionOutput } from "../../shared/contract/actions/actions.ts";

type LineKind = ActionOutput<"wallet statement">["lines"][number]["kind"];

/** `nin_verification` as people read it. */
export const lineKindText = (kind: LineKind): string => {
  const text = kind.replaceAll("_", " ").replace(/^(nin|bvn)/, (name) => name.toUpperCase());
  return text.slice(0, 1).toUpperCase() + text.slice(1);
};
