import { stacks } from "../stacks.ts";
import type { PurchaseResults } from "./purchase.ts";
import { serviceOver } from "./tables.ts";

const WIDTH = 760;
const LABEL = 320;
const BAR = 18;
const GAP = 8;
const HEAD = 34;
/** A grey that is readable on white and on black. */
const INK = "#7a7a7a";
const SERVICE = "#1f77b4";

type Bar = { readonly label: string; readonly value: number };

/** Two groups of bars: CPU time and purchases per second of the Lambda handlers, relative to this service. */
export const drawPurchases = ({ handlers }: PurchaseResults): string => {
  const bars = (of: "perSecond" | "cpuUs"): readonly Bar[] =>
    stacks.map(({ name, title }) => ({ label: title, value: 1 / serviceOver(handlers, name, of) }));
  const first = group("CPU time of a live purchase, this service = 1 (shorter is better)", bars("cpuUs"), 0);
  const second = group(
    "Live purchases per second of one instance, this service = 1 (longer is better)",
    bars("perSecond"),
    first.height + 16,
  );
  const height = first.height + 16 + second.height;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="13" fill="${INK}">`,
    "<title>Live purchases of this service and other stacks as Lambda handlers</title>",
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
