import * as z from "#zod";
import { REPORTED_DAYS_MAX } from "../../../shared/contract/actions/action.ts";
import { clockGroups } from "../../../shared/contract/actions/refund-clock.ts";
import { errors, isErrorCode } from "../../../shared/contract/errors.ts";
import {
  type ClockReport,
  type ClockRow,
  clockColumns,
  clockReport,
} from "../../../shared/contract/reports/refund-clock-report.ts";
import { useFilters } from "../../api/use-filters.ts";
import { useReport } from "../../api/use-report.ts";
import { Facts } from "../../components/page/facts.tsx";
import { Page, Row } from "../../components/page/page.tsx";
import { Query } from "../../components/page/query.tsx";
import { periodError } from "../../components/period/period.ts";
import { PeriodFields, periodFilters, useReportedDays } from "../../components/period/period-fields.tsx";
import { CsvButton } from "../../components/table/csv-button.tsx";
import { DataTable } from "../../components/table/data-table.tsx";
import { StageTime } from "../../components/values/time.tsx";
import { typeText } from "../../components/values/transaction-values.tsx";

const filterFields = z.object(periodFilters);

/** "2 / 0 / 1": orders that ended so within 30 s, within 24 h, and later. */
const counts = (row: ClockRow, how: "delivered" | "refunded" | "resolved"): string =>
  [row[`${how}_30_s`], row[`${how}_24_h`], row[`${how}_later`]].join(" / ");

export const RefundClockPage = () => {
  const [chosen, choose] = useFilters(filterFields);
  const { from, to } = useReportedDays(chosen, choose);
  const input =
    periodError({ from, to }, REPORTED_DAYS_MAX) === undefined ? { from, to, by: clockGroups.join(",") } : undefined;
  const report = useReport("refund-clock report", input, clockReport);
  return (
    <Page
      actions={<CsvButton name={`refund-clock-${from}-to-${to}`} rows={report.data?.rows} columns={clockColumns} />}
      description="How long after their debit live orders were delivered or refunded. The refund framework of NCC and CBN asks for 30 seconds where nothing was delivered, and 24 hours where an outcome is pending. Nothing is refunded because of this clock."
    >
      <Row>
        <PeriodFields period={{ from, to }} daysMax={REPORTED_DAYS_MAX} onChange={choose} />
      </Row>
      <Query of={report}>{(shown) => <Shown report={shown} />}</Query>
    </Page>
  );
};

const causeTexts = {
  answer: "Delivered at once",
  event: "Event of the upstream",
  lookup: "The upstream was asked",
  operator: "Operator",
} as const;

const causeText = ({ cause }: ClockRow): string => {
  if (cause === null) return "–";
  return isErrorCode(cause) ? errors[cause].message : causeTexts[cause];
};

const percentText = (percent: number | null): string => (percent === null ? "–" : `${percent} %`);

const Shown = ({ report: { rows, total, open_over_24_h, complete_until } }: { readonly report: ClockReport }) => (
  <>
    <Facts
      facts={[
        { name: "Orders", value: total.orders },
        { name: "Within 30 s", value: percentText(total.within_30_s_percent) },
        { name: "Open for more than 24 hours, now", value: open_over_24_h },
        { name: "Complete until", value: complete_until === null ? undefined : <StageTime iso={complete_until} /> },
      ]}
    />
    <DataTable
      label="Orders by how they ended"
      rows={rows}
      rowKey={({ kind, network, cause }) => `${kind} ${network} ${cause}`}
      columns={[
        { header: "Kind", cell: ({ kind }) => kind && typeText(kind) },
        { header: "Network", cell: ({ network }) => network ?? "–" },
        { header: "Cause", cell: causeText },
        { header: "Within 30 s", align: "end", cell: (row) => percentText(row.within_30_s_percent) },
        { header: "Orders", align: "end", cell: ({ orders }) => orders, sort: "orders" },
        { header: "Delivered in 30 s / 24 h / later", align: "end", cell: (row) => counts(row, "delivered") },
        { header: "Refunded in 30 s / 24 h / later", align: "end", cell: (row) => counts(row, "refunded") },
        { header: "Ended by an operator", align: "end", cell: (row) => counts(row, "resolved") },
      ]}
      emptyText="No order that was debited on these days has ended. Choose others above."
    />
  </>
);
