/** Which number of `01/02/1990` is the day. Dates with the year in front or a month's name do not depend on it. */
export const dateOrders = ["day-first", "month-first"] as const;
export type DateOrder = (typeof dateOrders)[number];
