import type * as z from "#zod";
import { counted } from "../../../shared/contract/counted.ts";
import type { usageView } from "../../../shared/contract/order-limits.ts";
import { nairaText } from "./print.ts";

/** What limits count, in one line. */
export const usageText = ({
  day,
  day_naira,
  day_orders,
  month_naira,
  month_orders,
}: z.output<typeof usageView>): string =>
  `${nairaText(day_naira)} in ${counted(day_orders, "order")} on ${day}, ${nairaText(month_naira)} in ${month_orders} in its month`;
