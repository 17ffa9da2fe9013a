import {
  Area,
  AreaChart,
  Bar,
  BarChart,
  CartesianGrid,
  Legend,
  ResponsiveContainer,
  Tooltip,
  XAxis,
  YAxis,
} from "recharts";
import * as z from "zod";
import styles from "./chart.module.css";
import type { ChartProps } from "./chart.tsx";

const MIN_TICK_GAP = 32;
const colours = ["var(--chart-1)", "var(--chart-2)", "var(--chart-3)", "var(--chart-4)", "var(--chart-5)"];
/** Lines differ without their colours too. */
const dashes = ["", "6 3", "2 3", "8 3 2 3", "12 4"];
const POINT_MARGIN = 6;
const colourOf = (index: number): string => colours[index % colours.length] ?? "currentColor";

const hovered = z.array(z.object({ name: z.string(), value: z.number().nullish() }));

/** The picture of a Chart. */
export const ChartDrawing = ({ series, points, kind, valueText, axisText = valueText, axis }: ChartProps) => {
  const data = points.map(({ x, values }) => ({
    x,
    ...Object.fromEntries(series.map((_, index) => [`s${index}`, values[index] ?? null])),
  }));
  const isSingle = points.filter(({ values }) => values.some((value) => value !== null)).length === 1;
  const axes = (
    <>
      <CartesianGrid vertical={false} stroke="var(--console-line)" />
      <XAxis
        dataKey="x"
        tickLine={false}
        stroke="var(--console-line-strong)"
        tick={{ fill: "var(--mantine-color-dimmed)" }}
        minTickGap={MIN_TICK_GAP}
      />
      <YAxis
        width="auto"
        tickLine={false}
        axisLine={false}
        tick={{ fill: "var(--mantine-color-dimmed)" }}
        tickFormatter={axisText}
        {...(axis && {
          ticks: [...axis.marks],
          domain: [axis.marks[0] ?? 0, axis.marks.at(-1) ?? 1],
          scale: axis.scale,
          padding: { top: POINT_MARGIN, bottom: POINT_MARGIN },
        })}
      />
      <Tooltip
        cursor={{ stroke: "var(--console-line-strong)", fill: "var(--console-hover)" }}
        content={({ label, payload }) => {
          const values = hovered.safeParse(payload.map(({ name, value }) => ({ name: String(name), value }))).data;
          return (
            <div className={styles.tooltip}>
              <strong>{String(label)}</strong>
              <dl>
                {values?.map(({ name, value }) => (
                  <div key={name} style={{ display: "contents" }}>
                    <dt>{name}</dt>
                    <dd>{typeof value === "number" ? valueText(value) : "–"}</dd>
                  </div>
                ))}
              </dl>
            </div>
          );
        }}
      />
      {series.length > 1 && <Legend itemSorter={null} />}
    </>
  );
  const common = { data, margin: { top: 8, right: 12, bottom: 0, left: 0 }, accessibilityLayer: true };
  return (
    <ResponsiveContainer width="100%" height="100%">
      {kind === "line" ? (
        <AreaChart {...common}>
          {axes}
          {series.map((name, index) => (
            <Area
              key={name}
              name={name}
              dataKey={`s${index}`}
              stroke={colourOf(index)}
              fill={colourOf(index)}
              fillOpacity={series.length === 1 ? 0.12 : 0}
              strokeWidth={2}
              strokeDasharray={dashes[index % dashes.length] ?? ""}
              // A value without neighbours has no line.
              dot={(series.length > 1 || isSingle) && { r: 2, strokeDasharray: "" }}
              isAnimationActive={false}
            />
          ))}
        </AreaChart>
      ) : (
        <BarChart {...common}>
          {axes}
          {series.map((name, index) => (
            <Bar
              key={name}
              name={name}
              dataKey={`s${index}`}
              stackId="all"
              fill={colourOf(index)}
              isAnimationActive={false}
            />
          ))}
        </BarChart>
      )}
    </ResponsiveContainer>
  );
};
