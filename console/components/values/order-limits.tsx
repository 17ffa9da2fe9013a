import type { ReactNode } from "react";
import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { type OrderLimitName, type OrderLimits, orderLimitName } from "../../../shared/contract/order-limits.ts";
import { numberFromText } from "../../../shared/contract/values/typed-number.ts";
import { DataTable } from "../table/data-table.tsx";
import { Money } from "./money.tsx";

const labels = {
  order_naira: "Amount of one order (NGN)",
  day_naira: "Amount per day (NGN)",
  month_naira: "Amount per month (NGN)",
  day_orders: "Orders per day",
  month_orders: "Orders per month",
} as const satisfies Record<OrderLimitName, string>;

type Usage = ActionOutput<"accounts show">["usage"];

/** The limits of an account, and what is used of them. */
export const LimitsTable = ({ limits, usage }: { readonly limits: OrderLimits; readonly usage: Usage }) => (
  <DataTable
    label="Limits"
    rows={orderLimitName.options.filter((each) => limits[each] !== undefined)}
    rowKey={(each) => each}
    emptyText="None: orders are limited by the balance only."
    columns={[
      { header: "Limit", cell: (each) => labels[each] },
      { header: "At most", align: "end", cell: (each) => shownAmount(each, limits[each]) },
      { header: "Used", align: "end", cell: (each) => shownAmount(each, usedOf(usage, each)) },
    ]}
  />
);

const usedOf = (usage: Usage, limit: OrderLimitName): number | undefined =>
  limit === "order_naira" ? undefined : usage?.[limit];

const shownAmount = (limit: OrderLimitName, value: number | undefined): ReactNode => {
  if (value === undefined) return "–";
  return limit.endsWith("naira") ? <Money naira={value} /> : value;
};

/** The fields of a dialog that sets limits. */
export const limitFields = (limits: OrderLimits) => {
  const field = (limit: OrderLimitName) =>
    ({ kind: "text", label: labels[limit], initial: String(limits[limit] ?? ""), isOptional: true }) as const;
  return {
    order_naira: field("order_naira"),
    day_naira: field("day_naira"),
    month_naira: field("month_naira"),
    day_orders: field("day_orders"),
    month_orders: field("month_orders"),
  };
};

/** What was typed; an empty field is no limit. */
export const limitsIn = (values: Readonly<Record<OrderLimitName, string>>): OrderLimits =>
  Object.fromEntries(
    orderLimitName.options.flatMap((each) => {
      const text = values[each].trim();
      return text === "" ? [] : [[each, numberFromText(text)]];
    }),
  );

/** What the dialog says of all limits. */
export const LimitsNote = () => (
  <p>
    Write whole numbers without commas. Leave a field empty for no limit. Days and months are those of the stage's time
    zone. An order that is refunded does not count. The change takes effect with the next request.
  </p>
);
