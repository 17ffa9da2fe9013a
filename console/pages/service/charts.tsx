import { NativeSelect } from "@mantine/core";
import { useMemo } from "react";
import * as z from "#zod";
import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { MINUTE_MS } from "../../../shared/contract/values/durations.ts";
import { useFilters } from "../../api/use-filters.ts";
import { useRead } from "../../api/use-read.ts";
import { NetworkCharts, type Step } from "../../components/charts/network-charts.tsx";
import { type EndedCount, networkOf } from "../../components/charts/statistics.ts";
import { Page, Row } from "../../components/page/page.tsx";
import { Query } from "../../components/page/query.tsx";
import { FilterSelect } from "../../components/table/filter-select.tsx";

/** Months of hours are many reads, and a day changes little in a minute. */
const REFRESH_MS = { hour: MINUTE_MS, day: 300_000 } as const;

const ranges = {
  day: { label: "24 hours", by: "hour", steps: 24 },
  twoDays: { label: "48 hours", by: "hour", steps: 48 },
  week: { label: "7 days", by: "day", steps: 7 },
  month: { label: "30 days", by: "day", steps: 30 },
} as const;
type Range = (typeof ranges)[keyof typeof ranges];

const filterFields = z.object({
  range: z.catch(z.enum(["day", "twoDays", "week", "month"]), "day"),
  network: z.catch(z.string(), ""),
});

const labelParts = {
  hour: { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" },
  day: { weekday: "short", day: "numeric", month: "short" },
} as const;

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
  const { by, steps } = ranges[range];
  // One more day is read, and the first, which is not whole, is left out.
  const hours = by === "hour" ? steps : steps * 24 + 1;
  const statistics = useRead("statistics show", { hours }, { everyMs: REFRESH_MS[by] });
  const zone = statistics.data?.time_zone;
  const known = statistics.data?.hours.flatMap(({ counts }) => counts.map(networkOf)) ?? [];
  const networks = [...new Set([...known, ...(network === "" ? [] : [network])])].sort();
  return (
    <Page
      description={`Live orders and identity checks, counted when they end; they appear after a minute. The numbers are approximate: after a fault an order can be counted twice. Times are in the time zone of the stage${zone === undefined ? "" : ` (${zone})`}.`}
    >
      <Row>
        <FilterSelect
          label="Time"
          data={Object.entries(ranges).map(([value, { label }]) => ({ value, label: `Last ${label}` }))}
          value={range}
          onChoose={(range) => choose({ range })}
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
  const steps = useMemo(
    () =>
      stepsOf(shown, range).map(({ label, counts }) => ({
        label,
        counts: counts.filter((count) => network === "" || networkOf(count) === network),
      })),
    [shown, range, network],
  );
  return (
    <NetworkCharts
      steps={steps}
      boundsMs={shown.latency_bounds_ms}
      xHeader={range.by === "hour" ? "Hour" : "Day"}
      emptyText="No live order ended in this time. Choose a longer one above."
    />
  );
};
