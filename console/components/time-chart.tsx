import {
  Bar,
  BarChart,
  CartesianGrid,
  Legend,
  Line,
  LineChart,
  ResponsiveContainer,
  Tooltip,
  XAxis,
  YAxis,
} from "recharts";
import styles from "./time-chart.module.css";

/** The values of all series at one time; null where there is none. */
export type ChartPoint = { readonly label: string; readonly values: Readonly<Record<string, number | null>> };

export type TimeChartProps = {
  /** `bars` are stacked. */
  readonly kind: "bars" | "lines";
  /** What the chart shows, for screen readers. */
  readonly label: string;
  readonly series: readonly string[];
  readonly points: readonly ChartPoint[];
  readonly valueText: (value: number) => string;
  /** Axis of values: a range with its marks, in equal steps or as powers. */
  readonly axis?: { readonly marks: readonly number[]; readonly scale: "linear" | "log" };
};

const HEIGHT = 280;
const COLOURS = 6;
/** Lines differ without their colours too. */
const DASHES = ["", "6 3", "2 3", "8 3 2 3", "12 4", "4 2"] as const;

const colourOf = (index: number): string => `var(--chart-${(index % COLOURS) + 1})`;

/** A chart over time. This module loads the chart library, so pages load it with `lazy`; a table stands beside it. */
const TimeChart = ({ kind, label, series, points, valueText, axis }: TimeChartProps) => {
  const valueIn = (name: string) => (point: ChartPoint) => point.values[name] ?? null;
  const marks = axis && [...axis.marks];
  const parts = (
    <>
      <CartesianGrid stroke="var(--console-line)" vertical={false} />
      <XAxis
        dataKey="label"
        stroke="var(--console-line-strong)"
        tick={{ fill: "var(--mantine-color-dimmed)" }}
        minTickGap={24}
        {...(kind === "lines" && { padding: { left: 16, right: 16 } })}
      />
      <YAxis
        stroke="var(--console-line-strong)"
        tick={{ fill: "var(--mantine-color-dimmed)" }}
        tickFormatter={valueText}
        width={64}
        allowDecimals={false}
        padding={{ top: 8, bottom: kind === "lines" ? 8 : 0 }}
        {...(axis &&
          marks && {
            ticks: marks,
            domain: [marks[0] ?? 0, marks.at(-1) ?? 1],
            scale: axis.scale,
          })}
      />
      <Tooltip
        formatter={(value) => (typeof value === "number" ? valueText(value) : value)}
        cursor={{ fill: "var(--console-hover)", stroke: "var(--console-line-strong)" }}
        contentStyle={{ background: "var(--console-surface)", borderColor: "var(--console-line-strong)" }}
        itemStyle={{ color: "var(--mantine-color-text)" }}
        isAnimationActive={false}
      />
      <Legend formatter={(name) => <span className={styles.legend}>{name}</span>} />
    </>
  );
  return (
    <figure className={styles.chart} aria-label={label}>
      <ResponsiveContainer width="100%" height={HEIGHT}>
        {kind === "bars" ? (
          <BarChart data={[...points]} accessibilityLayer>
            {parts}
            {series.map((name, index) => (
              <Bar
                key={name}
                name={name}
                dataKey={valueIn(name)}
                stackId="all"
                fill={colourOf(index)}
                isAnimationActive={false}
              />
            ))}
          </BarChart>
        ) : (
          <LineChart data={[...points]} accessibilityLayer>
            {parts}
            {series.map((name, index) => (
              <Line
                key={name}
                name={name}
                dataKey={valueIn(name)}
                stroke={colourOf(index)}
                strokeDasharray={DASHES[index % DASHES.length] ?? ""}
                strokeWidth={2}
                dot={{ r: 2 }}
                connectNulls={false}
                isAnimationActive={false}
              />
            ))}
          </LineChart>
        )}
      </ResponsiveContainer>
    </figure>
  );
};

// biome-ignore lint/style/noDefaultExport: React's lazy loads a default export.
export default TimeChart;
