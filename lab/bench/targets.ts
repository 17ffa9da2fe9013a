import { markdownTable } from "../../tools/markdown/markdown.ts";

/** A target of this service. Values are compared as they are printed. */
export type Target = {
  readonly title: string;
  readonly bound: "at most" | "at least";
  readonly limit: string;
  /** One value, or the ratio to each of these stacks. */
  readonly measured: string | Readonly<Record<string, string>>;
};

export const targetTable = (subject: string, targets: readonly Target[]): string =>
  markdownTable([[subject, "target", "measured", "met"], ...targets.map(rowOf)]);

const rowOf = ({ title, bound, limit, measured }: Target): readonly string[] => {
  const isMet = (value: string): boolean =>
    bound === "at most" ? Number(value) <= Number(limit) : Number(value) >= Number(limit);
  if (typeof measured === "string") return [title, `${bound} ${limit}`, measured, isMet(measured) ? "yes" : "no"];
  const ratios = Object.entries(measured);
  const missed = ratios.filter(([, value]) => !isMet(value)).map(([name]) => name);
  return [
    title,
    `${bound} ${limit} ×`,
    ratios.map(([name, value]) => `${name} ${value} ×`).join(", "),
    missed.length === 0 ? "yes" : `not ${missed.join(", ")}`,
  ];
};
