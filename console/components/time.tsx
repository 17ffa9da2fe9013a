import styles from "./values.module.css";

const format = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  timeZoneName: "shortOffset",
});

/** A time in the viewer's zone with its offset, as text. */
export const timeText = (iso: string): string => format.format(new Date(iso));

/** A time in the viewer's zone with its offset; pointing at it shows UTC. */
export const Time = ({ iso }: { readonly iso: string }) => (
  <time dateTime={iso} title={`${iso.replace("T", " ").replace(/(\.\d+)?Z$/, "")} UTC`} className={styles.time}>
    {timeText(iso)}
  </time>
);
