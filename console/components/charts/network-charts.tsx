import { moneyText, shortMoneyText } from "../../../shared/contract/values/money.ts";
import { percentText } from "../../../shared/contract/values/percent-text.ts";
import { Empty } from "../page/empty.tsx";
import { Section } from "../page/page.tsx";
import { Chart } from "./chart.tsx";
import { type EndedCount, ofNetworks, secondsText, type Total, withinMs } from "./statistics.ts";

/** An hour or a day, with what ended in it. */
export type Step = { readonly label: string; readonly counts: readonly EndedCount[] };

type NetworkChartsProps = {
  readonly steps: readonly Step[];
  readonly boundsMs: readonly number[];
  readonly xHeader: "Hour" | "Day";
  readonly emptyText: string;
};

/** Volume, sales, success rate and latency of live orders, by network and time. */
export const NetworkCharts = ({ steps, boundsMs: bounds, xHeader, emptyText }: NetworkChartsProps) => {
  const all = steps.flatMap(({ counts }) => counts);
  const series = ofNetworks(all).map((each) => each.network);
  if (series.length === 0) return <Empty>{emptyText}</Empty>;

  const totals = steps.map(({ label, counts }) => ({
    label,
    networks: new Map(ofNetworks(counts).map((total) => [total.network, total])),
  }));
  const points = (toValue: (total: Total) => number | null) =>
    totals.map(({ label, networks }) => ({
      x: label,
      values: series.map((name) => {
        const total = networks.get(name);
        return total === undefined ? null : toValue(total);
      }),
    }));
  const common = { xHeader, series, emptyText: "None of them was successful." };
  const slowest = (bounds.at(-1) ?? 0) * 2;
  const latencyText = (ms: number): string =>
    ms < slowest ? secondsText(ms) : `more than ${secondsText(bounds.at(-1) ?? 0)}`;
  return (
    <>
      <Section title="Volume" description="How many ended, successful or not.">
        <Chart
          {...common}
          kind="bars"
          label="Volume by network"
          points={points(({ count }) => count)}
          valueText={String}
        />
      </Section>
      <Section title="Sales" description="What apps paid for the successful ones.">
        <Chart
          {...common}
          kind="bars"
          label="Sales by network"
          points={points(({ amount, successful }) => (successful === 0 ? null : amount))}
          valueText={moneyText}
          axisText={shortMoneyText}
        />
      </Section>
      <Section title="Success rate" description="Of those that ended, the share that was successful.">
        <Chart
          {...common}
          kind="line"
          label="Success rate by network"
          points={points(({ successful, count }) => (100 * successful) / count)}
          valueText={(value) => percentText(value, 100)}
          axis={{ marks: [0, 25, 50, 75, 100], scale: "linear" }}
        />
      </Section>
      <Section
        title="Latency"
        description="The time in which 95 of 100 successful orders ended after they were sent to the upstream. Orders that an operator resolved are left out."
      >
        <Chart
          {...common}
          kind="line"
          label="Latency by network"
          points={points(({ latency }) => {
            const ms = withinMs(latency, bounds);
            return ms === undefined ? null : Math.min(ms, slowest);
          })}
          valueText={latencyText}
          axisText={secondsText}
          axis={{ marks: [...bounds, slowest], scale: "log" }}
        />
      </Section>
    </>
  );
};
