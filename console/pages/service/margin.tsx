import * as z from "#zod";
import { REPORTED_DAYS_MAX } from "../../../shared/contract/actions/action.ts";
import { marginGroups } from "../../../shared/contract/actions/margin.ts";
import {
  type MarginReport,
  type MarginRow,
  marginCsv,
  marginReport,
} from "../../../shared/contract/reports/margin-report.ts";
import { moneyText, shortMoneyText } from "../../../shared/contract/values/money.ts";
import { useFilters } from "../../api/use-filters.ts";
import { useReport } from "../../api/use-report.ts";
import { Chart } from "../../components/charts/chart.tsx";
import { Facts } from "../../components/page/facts.tsx";
import { Page, Row, Section } from "../../components/page/page.tsx";
import { Query } from "../../components/page/query.tsx";
import { periodError } from "../../components/period/period.ts";
import { PeriodFields, periodFilters, useReportedDays } from "../../components/period/period-fields.tsx";
import { DataTable } from "../../components/table/data-table.tsx";
import { DownloadButton } from "../../components/table/download-button.tsx";
import { FilterSelect } from "../../components/table/filter-select.tsx";
import { Money } from "../../components/values/money.tsx";
import { AccountLink } from "../../components/values/record-links.tsx";
import { StageTime } from "../../components/values/time.tsx";
import { typeText } from "../../components/values/transaction-values.tsx";

type Group = (typeof marginGroups)[number];

const groups = {
  day: "Day",
  network: "Network",
  kind: "Kind",
  account: "Account",
} as const satisfies Record<Group, string>;

const filterFields = z.object({ ...periodFilters, by: z.catch(z.enum(marginGroups), "day") });

export const MarginPage = () => {
  const [chosen, choose] = useFilters(filterFields);
  const { from, to } = useReportedDays(chosen, choose);
  const { by } = chosen;
  const input = periodError({ from, to }, REPORTED_DAYS_MAX) === undefined ? { from, to, by } : undefined;
  const report = useReport("margin report", input, marginReport);
  const { data } = report;
  return (
    <Page
      description="What delivered orders earned: their price, less what the upstream charged. Days are those of the stage's time zone."
      actions={
        <DownloadButton
          fileName={`margin-${from}-to-${to}-by-${by}.csv`}
          type="text/csv"
          read={data && (async () => marginCsv(data.rows))}
        >
          Download CSV
        </DownloadButton>
      }
    >
      <Row>
        <PeriodFields period={{ from, to }} daysMax={REPORTED_DAYS_MAX} onChange={choose} />
        <FilterSelect
          label="Group"
          data={Object.entries(groups).map(([value, head]) => ({ value, label: `By ${head.toLowerCase()}` }))}
          value={by}
          onChoose={(by) => choose({ by })}
        />
      </Row>
      <Query of={report}>{(shown) => <Shown report={shown} by={by} />}</Query>
    </Page>
  );
};

const Shown = ({ report: { rows, total, complete_until: completeUntil }, by }: { report: MarginReport; by: Group }) => (
  <>
    <Section title="Total">
      <Facts
        facts={[
          { name: "Delivered orders of known cost", value: total.orders },
          { name: "Price", value: <Money naira={total.price} /> },
          { name: "Cost", value: <Money naira={total.cost} /> },
          { name: "Margin", value: <Money naira={total.margin} /> },
          { name: "Of the price", value: percentOf(total) },
          { name: "Orders of unknown cost", value: total.unknown_orders },
          { name: "Their price", value: <Money naira={total.unknown_price} /> },
          { name: "Complete until", value: completeUntil === null ? undefined : <StageTime iso={completeUntil} /> },
        ]}
      />
    </Section>
    {by === "day" && rows.length > 0 && (
      <Section title="Margin by day">
        <Chart
          label="Margin by day"
          xHeader="Day"
          kind="bars"
          series={["Margin"]}
          points={rows.map(({ day, margin }) => ({ x: day ?? "", values: [margin] }))}
          valueText={moneyText}
          axisText={shortMoneyText}
          emptyText="No order was delivered in these days. Choose others above."
        />
      </Section>
    )}
    <DataTable
      label="Margin"
      rows={rows}
      rowKey={(row) => String(groupOf(row, by))}
      columns={[
        { header: groups[by], cell: headOf(by) },
        { header: "Margin", align: "end", cell: ({ margin }) => <Money naira={margin} />, sort: "margin" },
        { header: "Of the price", align: "end", cell: percentOf, sort: "margin_percent" },
        { header: "Orders", align: "end", cell: ({ orders }) => orders, sort: "orders" },
        { header: "Price", align: "end", cell: ({ price }) => <Money naira={price} />, sort: "price" },
        { header: "Cost", align: "end", cell: ({ cost }) => <Money naira={cost} />, sort: "cost" },
        { header: "Unknown cost", align: "end", cell: ({ unknown_orders }) => unknown_orders },
      ]}
      emptyText="No order was delivered in these days. Choose others above."
    />
  </>
);

const percentOf = ({ margin_percent: percent }: MarginRow): string => (percent === null ? "–" : `${percent} %`);

const groupOf = (row: MarginRow, by: Group): string | null => (by === "account" ? row.account_id : row[by]);

const headOf = (by: Group) => (row: MarginRow) => {
  if (by === "account" && row.account_id !== null) return <AccountLink account={row.account_id} />;
  if (by === "kind" && row.kind !== null) return typeText(row.kind);
  return groupOf(row, by) ?? "Identity checks";
};
