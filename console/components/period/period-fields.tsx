import { TextInput } from "@mantine/core";
import { useEffect, useEffectEvent, useState } from "react";
import * as z from "#zod";
import { usePerson } from "../../api/use-person.ts";
import { FilterSelect } from "../table/filter-select.tsx";
import {
  daysNote,
  earlierMonths,
  type Period,
  periodError,
  periodText,
  presetOf,
  presets,
  thisMonth,
} from "./period.ts";
import styles from "./period-fields.module.css";

const day = z.catch(z.optional(z.iso.date()), undefined);

/** The fields of `useFilters` for a period. */
export const periodFilters = { from: day, to: day };

type Chosen = (period: { readonly from: string; readonly to: string }) => void;

/** The days of a report: this month, unless others are chosen. They are kept in the address: next month a link shows the same. */
export const useReportedDays = (chosen: Period, choose: Chosen): { readonly from: string; readonly to: string } => {
  const month = thisMonth(Date.now(), usePerson().time_zone);
  const { from = month.from, to = month.to } = chosen;
  const keep = useEffectEvent(() => choose({ from, to }));
  const isKept = chosen.from !== undefined && chosen.to !== undefined;
  useEffect(() => {
    if (!isKept) keep();
  }, [isKept]);
  return { from, to };
};

type PeriodFieldsProps = {
  readonly period: Period;
  /** The most days that can be read at once; a period without a limit is then no choice. */
  readonly daysMax?: number;
  /** How many months before the last one are choices. */
  readonly months?: number;
  readonly onChange: Chosen;
};

/** Two dates; both days are included, in the stage's time zone. */
export const PeriodFields = ({ period, daysMax, months = 0, onChange }: PeriodFieldsProps) => {
  const { from = "", to = "" } = period;
  const { time_zone } = usePerson();
  const all = [...presets(Date.now(), time_zone), ...earlierMonths(Date.now(), time_zone, months)];
  const named = all.filter((preset) => daysMax === undefined || preset.from !== "");
  const chosen = presetOf({ from, to }, named);
  const note = daysNote(time_zone, Intl.DateTimeFormat().resolvedOptions().timeZone);
  return (
    <>
      <p className={styles.printed}>{periodText(period, time_zone)}</p>
      <div className={styles.fields}>
        <FilterSelect
          label="Period"
          {...(note !== undefined && { description: note })}
          data={[...named.map(({ name }) => name), ...(chosen === undefined ? [OTHER] : [])]}
          value={chosen?.name ?? OTHER}
          onChoose={(value) => {
            const preset = named.find(({ name }) => name === value);
            if (preset !== undefined) onChange({ from: preset.from, to: preset.to });
          }}
        />
        <DateField label="From" value={from} onChange={(date) => onChange({ from: date, to })} />
        <DateField
          label="To"
          value={to}
          error={periodError(period, daysMax)}
          onChange={(date) => onChange({ from, to: date })}
        />
      </div>
    </>
  );
};

type DateFieldProps = {
  readonly label: string;
  readonly value: string;
  readonly error?: string | undefined;
  readonly onChange: (date: string) => void;
};

/** While a year is typed, browsers state the years 2, 20 and 202, each of which would be a request. */
const DateField = ({ label, value, error, onChange }: DateFieldProps) => {
  const [typed, setTyped] = useState<string>();
  const change = (date: string) => {
    const isWhole = date === "" || date >= EARLIEST;
    setTyped(isWhole ? undefined : date);
    if (isWhole) onChange(date);
  };
  return (
    <TextInput
      type="date"
      label={label}
      value={typed ?? value}
      error={error}
      // The focus may be in the field of the first day.
      errorProps={{ role: "alert" }}
      onChange={({ currentTarget }) => change(currentTarget.value)}
      onBlur={() => setTyped(undefined)}
    />
  );
};

const EARLIEST = "2000";

const OTHER = "Custom";
