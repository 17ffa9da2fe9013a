import styles from "./chart.module.css";
import { ChartDrawing } from "./chart-drawing.tsx";
import { DataTable } from "./data-table.tsx";
import { Empty } from "./empty.tsx";

export type ChartProps = {
  /** What it shows, for screen readers: `Balance at the end of each day`. */
  readonly label: string;
  /** The heading of the first column: `Day`. */
  readonly xHeader: string;
  /** One line, or one colour of the bars, for each. */
  readonly series: readonly string[];
  /** In order of time. A value is missing if it is null. */
  readonly points: readonly { readonly x: string; readonly values: readonly (number | null)[] }[];
  /** `bars` are stacked. */
  readonly kind: "line" | "bars";
  /** A value in the table and beside the pointer. */
  readonly valueText: (value: number) => string;
  /** A value at the axis, by default as `valueText`. */
  readonly axisText?: (value: number) => string;
  /** The marks of the axis, from its beginning to its end; `log` spaces them as powers. */
  readonly axis?: { readonly marks: readonly number[]; readonly scale: "linear" | "log" };
  readonly emptyText: string;
};

/** A chart with the same values as a table below it. */
export const Chart = (props: ChartProps) => {
  const { label, xHeader, series, points, valueText, emptyText } = props;
  if (points.every(({ values }) => values.every((value) => value === null))) return <Empty>{emptyText}</Empty>;
  return (
    <figure className={styles.chart} aria-label={label}>
      <ChartDrawing {...props} />
      <details>
        <summary>Show as a table</summary>
        <DataTable
          label={label}
          columns={[
            { header: xHeader, cell: ({ x }) => x },
            ...series.map((name, index) => ({
              header: name,
              align: "end" as const,
              cell: ({ values }: (typeof points)[number]) => {
                const value = values[index] ?? null;
                return value === null ? "–" : valueText(value);
              },
            })),
          ]}
          rows={points.toReversed()}
          rowKey={({ x }) => x}
          emptyText={emptyText}
        />
      </details>
    </figure>
  );
};
