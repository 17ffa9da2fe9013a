/** Which number of `01/02/1990` is the day. Only such dates depend on it: a year in front or a month's name decides by itself. */
export const dateOrders = ["day-first", "month-first"] as const;
export type DateOrder = (typeof dateOrders)[number];
