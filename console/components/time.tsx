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

/** What was read some seconds ago may have passed since. */
export const isInFuture = (iso: string | null): iso is string => iso !== null && Date.parse(iso) > Date.now();

const utcText = (iso: string): string => `${iso.replace("T", " ").replace(/(\.\d+)?Z$/, "")} UTC`;

/** A time in the viewer's zone with its offset; pointing at it shows UTC. */
export const Time = ({ iso }: { readonly iso: string }) => (
  <time dateTime={iso} title={utcText(iso)} className={styles.time}>
    {timeText(iso)}
  </time>
);

/** A time of the record: in the stage's zone with its offset, and in UTC. */
export const StageTime = ({ at, local_time }: { readonly at: string; readonly local_time: string }) => (
  <time dateTime={at} className={styles.stageTime}>
    {local_time.replace("T", " ").replace(/\.\d+/, " ")}
    <span className={styles.utc}>{utcText(at)}</span>
  </time>
);
