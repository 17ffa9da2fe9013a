const fields = {
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  timeZoneName: "shortOffset",
} as const;
const thisYear = new Intl.DateTimeFormat("en-GB", fields);
const anyYear = new Intl.DateTimeFormat("en-GB", { ...fields, year: "numeric" });

/** A time in the viewer's zone with its offset, as text. The year is left out if it is this one. */
export const timeText = (iso: string): string => {
  const time = new Date(iso);
  return (time.getFullYear() === new Date().getFullYear() ? thisYear : anyYear).format(time);
};

const ISO_TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;

/** A sentence of the service with its times as the pages show them. */
export const withTimes = (sentence: string): string => sentence.replaceAll(ISO_TIME, timeText);
