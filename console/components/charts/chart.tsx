import { Empty } from "../page/empty.tsx";
import { DataTable } from "../table/data-table.tsx";
import styles from "./chart.module.css";
import { ChartDrawing, type ChartProps } from "./chart-drawing.tsx";

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
