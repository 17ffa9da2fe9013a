import { TextInput } from "@mantine/core";

/** Dates, or an empty text for no limit. */
export type Period = { readonly from: string; readonly to: string };

export const wholePeriod: Period = { from: "", to: "" };

/** As actions take it. */
export const periodInput = ({ from, to }: Period) => ({
  ...(from !== "" && { from }),
  ...(to !== "" && { to }),
});

/** `-2026-11-01-to-2026-11-30`, for the name of a file. */
export const periodName = ({ from, to }: Period): string =>
  `${from === "" ? "" : `-${from}`}${to === "" ? "" : `-to-${to}`}`;

type PeriodFieldsProps = { readonly period: Period; readonly onChange: (period: Period) => void };

/** Two dates; both days are included, in UTC as in the files. */
export const PeriodFields = ({ period, onChange }: PeriodFieldsProps) => (
  <>
    <TextInput
      type="date"
      label="From (UTC)"
      value={period.from}
      onChange={({ currentTarget }) => onChange({ ...period, from: currentTarget.value })}
    />
    <TextInput
      type="date"
      label="To (UTC)"
      value={period.to}
      onChange={({ currentTarget }) => onChange({ ...period, to: currentTarget.value })}
    />
  </>
);
