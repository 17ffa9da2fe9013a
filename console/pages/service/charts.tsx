import { NativeSelect } from "@mantine/core";
import { useMemo, useState } from "react";
import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { moneyText } from "../../../shared/contract/money.ts";
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
  day: { label: "24 hours", by: "hour", beginMs: (nowMs: number) => nowMs - 23 * HOUR_MS },
  twoDays: { label: "48 hours", by: "hour", beginMs: (nowMs: number) => nowMs - 47 * HOUR_MS },
  week: { label: "7 days", by: "day", beginMs: (nowMs: number) => startOfDay(nowMs - 6 * DAY_MS) },
  month: { label: "30 days", by: "day", beginMs: (nowMs: number) => startOfDay(nowMs - 29 * DAY_MS) },
} as const;
type RangeName = keyof typeof ranges;

const isRange = (name: string): name is RangeName => Object.hasOwn(ranges, name);

/** Midnight in the viewer's zone. */
const startOfDay = (atMs: number): number => new Date(atMs).setHours(0, 0, 0, 0);

const hourFormat = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
});
const dayFormat = new Intl.DateTimeFormat("en-GB", { weekday: "short", day: "numeric", month: "short" });
const zoneFormat = new Intl.DateTimeFormat("en-GB", { timeZoneName: "shortOffset" });
const zone = (atMs: number): string =>
  zoneFormat.formatToParts(atMs).find(({ type }) => type === "timeZoneName")?.value ?? "";

/** An hour or a day, with what ended in it. */
type Step = { readonly label: string; readonly counts: readonly EndedCount[] };

const stepsOf = ({ hours }: ActionOutput<"statistics show">, by: "hour" | "day"): readonly Step[] => {
  const steps = new Map<number, { readonly label: string; readonly counts: EndedCount[] }>();
  for (const { hour, counts } of hours) {
    const atMs = Date.parse(hour);
    const beginMs = by === "hour" ? atMs : startOfDay(atMs);
    const format = by === "hour" ? hourFormat : dayFormat;
    const step = steps.get(beginMs) ?? { label: format.format(beginMs), counts: [] };
    steps.set(beginMs, step);
    step.counts.push(...counts);
  }
  return [...steps.values()];
};

/** Volume, success rate and latency of live orders, by network and time. */
export const ChartsPage = () => {
  const [range, setRange] = useState<RangeName>("day");
  const [network, setNetwork] = useState("");
  // The hours that are shown change with the hour only, so that a repeated read is of the same ones.
  const nowMs = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
  const input = { from: new Date(ranges[range].beginMs(nowMs)).toISOString(), to: new Date(nowMs).toISOString() };
  const statistics = useRead("statistics show", input, { everyMs: REFRESH_MS });
  const known = statistics.data?.hours.flatMap(({ counts }) => counts.map(networkOf)) ?? [];
  const networks = [...new Set([...known, ...(network === "" ? [] : [network])])].sort();
  return (
    <Page
      title="Charts"
      description={`Live orders and identity checks, counted when they end; a minute passes until they are shown. The numbers are about right: what is counted again after a fault counts twice. Times are in your zone (${zone(nowMs)}).`}
    >
      <Row>
        <NativeSelect
          label="Time"
          data={Object.entries(ranges).map(([value, { label }]) => ({ value, label: `Last ${label}` }))}
          value={range}
          onChange={({ currentTarget: { value } }) => isRange(value) && setRange(value)}
        />
        <NativeSelect
          label="Network"
          data={[{ value: "", label: "All networks" }, ...networks]}
          value={network}
          onChange={({ currentTarget }) => setNetwork(currentTarget.value)}
        />
      </Row>
      <Query of={statistics}>{(shown) => <Charts shown={shown} by={ranges[range].by} network={network} />}</Query>
    </Page>
  );
};

type ChartsProps = {
  readonly shown: ActionOutput<"statistics show">;
  readonly by: "hour" | "day";
  readonly network: string;
};

const Charts = ({ shown, by, network }: ChartsProps) => {
  const bounds = shown.latency_bounds_ms;
  const steps = useMemo(
    () =>
      stepsOf(shown, by).map(({ label, counts }) => ({
        label,
        counts: counts.filter((count) => network === "" || networkOf(count) === network),
      })),
    [shown, by, network],
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
  const common = { xHeader: by === "hour" ? "Hour" : "Day", series, emptyText: "None of them was successful." };
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
