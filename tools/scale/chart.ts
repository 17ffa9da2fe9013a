import { limitTitle } from "./limit.ts";
import { accountCounts, type LimitLoads, loads } from "./limit-loads.ts";

const WIDTH = 860;
const LABEL = 330;
const RIGHT = 30;
const ROW = 22;
const HEAD = 58;
/** Powers of ten of purchases a second, from edge to edge. */
const DECADES = { from: 0, to: 6 };
/** A grey that is readable on white and on black. */
const INK = "#7a7a7a";
const EVERY = "#1f77b4";
/** A colour for each number of accounts, in the order of `accountCounts`. */
const COLORS = ["#d62728", "#e08a1e", "#2ca02c"] as const;

const x = (purchasesPerS: number): string => {
  const decade = Math.min(DECADES.to, Math.max(DECADES.from, Math.log10(purchasesPerS)));
  const share = (decade - DECADES.from) / (DECADES.to - DECADES.from);
  return (LABEL + share * (WIDTH - LABEL - RIGHT)).toFixed(1);
};

/**
 * The purchases a second at which each limit is reached, on a logarithmic scale: one dot, or one for each number of
 * accounts.
 */
export const drawLimitLoads = (limits: readonly LimitLoads[]): string => {
  const height = HEAD + limits.length * ROW + 10;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="13" fill="${INK}">`,
    "<title>Purchases a second at which each limit is reached</title>",
    ...legend(),
    ...grid(height),
    ...limits.flatMap(row),
    "</svg>\n",
  ].join("\n");
};

const legend = (): readonly string[] => [
  dot(12, 14, EVERY),
  `<text x="22" y="18">any number of accounts</text>`,
  ...accountCounts.flatMap((accounts, index) => [
    dot(220 + index * 140, 14, COLORS[index] ?? INK),
    `<text x="${230 + index * 140}" y="18">${accounts.toLocaleString("en")} ${accounts === 1 ? "account" : "accounts"}</text>`,
  ]),
];

const grid = (height: number): readonly string[] =>
  Array.from({ length: DECADES.to - DECADES.from + 1 }, (_, index) => 10 ** (DECADES.from + index)).flatMap((value) => [
    `<line x1="${x(value)}" x2="${x(value)}" y1="${HEAD - 8}" y2="${height - 6}" stroke="${INK}" stroke-width="${loads.includes(value) ? 1 : 0.3}"/>`,
    `<text x="${x(value)}" y="${HEAD - 14}" text-anchor="middle">${value.toLocaleString("en")}</text>`,
  ]);

const row = ({ limit, givesAt }: LimitLoads, index: number): readonly string[] => {
  const y = HEAD + index * ROW + 8;
  const all = givesAt.map(({ purchasesPerS }) => purchasesPerS);
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const isSame = x(low) === x(high);
  return [
    `<text x="${LABEL - 14}" y="${y + 4}" text-anchor="end">${limitTitle(limit)}</text>`,
    `<line x1="${x(low)}" x2="${x(high)}" y1="${y}" y2="${y}" stroke="${INK}" stroke-width="2"/>`,
    ...(isSame ? [dot(x(low), y, EVERY)] : all.map((value, at) => dot(x(value), y, COLORS[at] ?? INK))),
  ];
};

const dot = (cx: number | string, cy: number, fill: string): string =>
  `<circle cx="${cx}" cy="${cy}" r="5" fill="${fill}"/>`;
