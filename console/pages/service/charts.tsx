import { NativeSelect } from "@mantine/core";
import { useMemo } from "react";
import * as z from "zod";
import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { moneyText } from "../../../shared/contract/money.ts";
import { useFilters } from "../../api/use-filters.ts";
import { useRead } from "../../api/use-read.ts";
import { Chart } from "../../components/chart.tsx";
import { Empty } from "../../components/empty.tsx";
import { Page, Row, Section } from "../../components/page.tsx";
import { Query } from "../../components/query.tsx";
import {
  type EndedCount,
  networkOf,
  ofNetworks,
  percentText,
  secondsText,
  type Total,
  withinMs,
} from "../../components/statistics.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const REFRESH_MS = 60_000;

const ranges = {
  day: { label: "24 hours", by: "hour", steps: 24, ms: 23 * HOUR_MS },
  twoDays: { label: "48 hours", by: "hour", steps: 48, ms: 47 * HOUR_MS },
  // One more day is read, and the first, which is not whole, is left out.
  week: { label: "7 days", by: "day", steps: 7, ms: 7 * DAY_MS },
  month: { label: "30 days", by: "day", steps: 30, ms: 30 * DAY_MS },
} as const;
type Range = (typeof ranges)[keyof typeof ranges];

const filterFields = z.object({
  range: z.enum(["day", "twoDays", "week", "month"]).catch("day"),
  network: z.string().catch(""),
});

const labelParts = {
  hour: { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" },
  day: { weekday: "short", day: "numeric", month: "short" },
} as const;

/** An hour or a day, with what ended in it. */
type Step = { readonly label: string; readonly counts: readonly EndedCount[] };

/** The steps of a range, by the clocks of the stage. An hour that they show twice is one step. */
const stepsOf = ({ hours, time_zone: timeZone }: ActionOutput<"statistics show">, range: Range): readonly Step[] => {
  const format = new Intl.DateTimeFormat("en-GB", { ...labelParts[range.by], timeZone });
  const steps = new Map<string, { readonly label: string; readonly counts: EndedCount[] }>();
  for (const { hour, counts } of hours) {
    const label = format.format(Date.parse(hour));
    const step = steps.get(label) ?? { label, counts: [] };
    steps.set(label, step);
    step.counts.push(...counts);
  }
  return [...steps.values()].slice(-range.steps);
};

/** Volume, success rate and latency of live orders, by network and time. */
export const ChartsPage = () => {
  const [{ range, network }, choose] = useFilters(filterFields);
  // The hours that are shown change with the hour only, so that a repeated read is of the same ones.
  const nowMs = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
  const input = { from: new Date(nowMs - ranges[range].ms).toISOString(), to: new Date(nowMs).toISOString() };
  const statistics = useRead("statistics show", input, { everyMs: REFRESH_MS });
  const zone = statistics.data?.time_zone;
  const known = statistics.data?.hours.flatMap(({ counts }) => counts.map(networkOf)) ?? [];
  const networks = [...new Set([...known, ...(network === "" ? [] : [network])])].sort();
  return (
    <Page
      title="Charts"
      description={`Live orders and identity checks, counted when they end; a minute passes until they are shown. The numbers are about right: what is counted again after a fault counts twice. Times are in the time zone of the stage${zone === undefined ? "" : ` (${zone})`}.`}
    >
      <Row>
        <NativeSelect
          label="Time"
          data={Object.entries(ranges).map(([value, { label }]) => ({ value, label: `Last ${label}` }))}
          value={range}
          onChange={({ currentTarget }) => choose({ range: currentTarget.value })}
        />
        <NativeSelect
          label="Network"
          data={[{ value: "", label: "All networks" }, ...networks]}
          value={network}
          onChange={({ currentTarget }) => choose({ network: currentTarget.value })}
        />
      </Row>
      <Query of={statistics}>{(shown) => <Charts shown={shown} range={ranges[range]} network={network} />}</Query>
    </Page>
  );
};

type ChartsProps = {
  readonly shown: ActionOutput<"statistics show">;
  readonly range: Range;
  readonly network: string;
};

const Charts = ({ shown, range, network }: ChartsProps) => {
  const bounds = shown.latency_bounds_ms;
  const steps = useMemo(
    () =>
      stepsOf(shown, range).map(({ label, counts }) => ({
        label,
        counts: counts.filter((count) => network === "" || networkOf(count) === network),
      })),
    [shown, range, network],
  );
  const all = steps.flatMap(({ counts }) => counts);
  const series = ofNetworks(all).map((each) => each.network);
  if (series.length === 0) return <Empty>No live order ended in this time. Choose a longer one above.</Empty>;

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
  const common = { xHeader: range.by === "hour" ? "Hour" : "Day", series, emptyText: "None of them was successful." };
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
        description="Within what time 95 of 100 successful ones ended, counted from when they were sent to the upstream. Those that an operator resolved are left out."
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
