import type { Line } from "./purchase.ts";
import { overService } from "./tables.ts";

const WIDTH = 760;
const LABEL = 300;
const BAR = 18;
const GAP = 8;
const HEAD = 34;
/** A grey that is readable on white and on black. */
const INK = "#7a7a7a";
const SERVICE = "#1f77b4";

type Bar = { readonly label: string; readonly value: number };

/** Two groups of bars: purchases per second and CPU time with a live key, relative to this service. */
export const drawPurchases = (lines: readonly Line[]): string => {
  const bars = (of: "perSecond" | "cpuUs"): readonly Bar[] =>
    lines.map((line) => ({ label: line.stack.title, value: overService(lines, line, "live", of) }));
  const first = group("Purchases per second, this service = 1 (longer is better)", bars("perSecond"), 0);
  const second = group(
    "Server CPU per purchase, this service = 1 (shorter is better)",
    bars("cpuUs"),
    first.height + 16,
  );
  const height = first.height + 16 + second.height;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="13" fill="${INK}">`,
    "<title>Live purchases: this service, with and without its short path, and three other stacks</title>",
    ...first.elements,
    ...second.elements,
    "</svg>\n",
  ].join("\n");
};

const group = (title: string, bars: readonly Bar[], top: number) => {
  const most = Math.max(...bars.map(({ value }) => value));
  const elements = bars.flatMap(({ label, value }, index) => {
    const y = top + HEAD + index * (BAR + GAP);
    const width = ((WIDTH - LABEL - 60) * value) / most;
    return [
      `<text x="${LABEL - 8}" y="${y + 13}" text-anchor="end">${label}</text>`,
      `<rect x="${LABEL}" y="${y}" width="${width.toFixed(1)}" height="${BAR}" fill="${index === 0 ? SERVICE : INK}"/>`,
      `<text x="${(LABEL + width + 6).toFixed(1)}" y="${y + 13}">${value.toFixed(2)}</text>`,
    ];
  });
  return {
    height: HEAD + bars.length * (BAR + GAP),
    elements: [`<text x="0" y="${top + 18}" font-weight="bold">${title}</text>`, ...elements],
  };
};
