import styles from "./values.module.css";

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
const timeText = (iso: string): string => {
  const time = new Date(iso);
  return (time.getFullYear() === new Date().getFullYear() ? thisYear : anyYear).format(time);
};

/** A time in the viewer's zone with its offset; pointing at it shows UTC. */
export const Time = ({ iso }: { readonly iso: string }) => (
  <time dateTime={iso} title={`${iso.replace("T", " ").replace(/(\.\d+)?Z$/, "")} UTC`} className={styles.time}>
    {timeText(iso)}
  </time>
);
