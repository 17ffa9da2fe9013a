import dayjs from "dayjs";
import customParseFormat from "dayjs/plugin/customParseFormat.js";
import type { DateOrder } from "../contract/values/date-order.ts";
import { dateInLagos } from "../platform/time.ts";

dayjs.extend(customParseFormat);

/** The format of a date whose separators are spaces, without leading zeros, with months of three letters. */
const formatOf = ([first = "", middle = ""]: readonly string[], order: DateOrder): string => {
  const [isNamedFirst, isNamedMiddle] = [first, middle].map((word) => /[a-z]/i.test(word));
  if (FULL_YEAR.test(first)) return isNamedMiddle ? "YYYY MMM D" : "YYYY M D";
  if (isNamedFirst) return "MMM D YYYY";
  if (isNamedMiddle) return "D MMM YYYY";
  return order === "day-first" ? "D M YYYY" : "M D YYYY";
};
const FULL_YEAR = /^\d{4}$/;

/** With a time and the name of its zone a date has some 70. A photo in its place has millions, and patterns take minutes. */
const LENGTH_MAX = 100;

/**
 * Reads a past date as `YYYY-MM-DD`; undefined if the text is not one. An instant is read in the time zone of Lagos. A
 * month above 12 is not swapped with the day: it shows that the stage's date order is wrong. Source: docs/interface.md
 * 12.D6.
 */
export const readDate = (text: string, order: DateOrder, nowMs: number): string | undefined => {
  if (text.length > LENGTH_MAX) return undefined;
  const [, written] = /^(\d{4}-\d{2}-\d{2})[T ].*(?:Z|[+-]\d{2}:?\d{2})$/.exec(text) ?? [];
  if (written !== undefined) {
    // `Date.parse` reads the 30th of February as the 2nd of March.
    return calendarDate(written.split("-"), order) && dateInLagos(Date.parse(text));
  }
  const words = text
    .replace(/[T ,]+\d{1,2}:\d{2}.*$/, "")
    .replace(/^(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*[., ]+/i, "")
    .replace(/(\d)(?:st|nd|rd|th)\b/gi, "$1")
    .split(/[-/., ]+/)
    .map((word) => monthName(word) ?? word);
  const [first = "", middle = "", last = "", ...others] = words;
  if (others.length > 0) return undefined;
  if (FULL_YEAR.test(first) || FULL_YEAR.test(last)) return calendarDate(words, order);
  if (!/^\d{2}$/.test(last)) return undefined;
  // A year of two digits is the latest one that gives a past date.
  const [in2000, in1900] = [2_000, 1_900].map((century) =>
    calendarDate([first, middle, String(century + Number(last))], order),
  );
  return in2000 !== undefined && in2000 <= (dateInLagos(nowMs) ?? "") ? in2000 : in1900;
};

const calendarDate = (words: readonly string[], order: DateOrder): string | undefined => {
  const text = words.map((word) => word.replace(/^0(?=\d$)/, "")).join(" ");
  const parsed = dayjs(text, formatOf(words, order), true);
  return parsed.isValid() ? parsed.format("YYYY-MM-DD") : undefined;
};

const MONTHS = [
  ...["january", "february", "march", "april", "may", "june"],
  ...["july", "august", "september", "october", "november", "december"],
];
/** A month's three letters, from its name or an abbreviation of at least three. */
const monthName = (word: string): string | undefined => {
  const name = word.length < 3 ? undefined : MONTHS.find((month) => month.startsWith(word.toLowerCase()));
  return name && `${name.charAt(0).toUpperCase()}${name.slice(1, 3)}`;
};

/** The shape of a date, for the log: digits become 9, letters become a. Never the date itself. */
export const dateShape = (text: string): string => text.replace(/\p{N}/gu, "9").replace(/\p{L}/gu, "a").slice(0, 40);
