import { timeIn } from "../../../shared/contract/values/time-zone.ts";
import { usePerson } from "../../api/use-person.ts";
import { timeText } from "./time-text.ts";
import { Unbroken } from "./unbroken.tsx";
import styles from "./values.module.css";

/** What was read some seconds ago may have passed since. */
export const isInFuture = (iso: string | null): iso is string => iso !== null && Date.parse(iso) > Date.now();

const utcText = (iso: string): string => `${iso.replace("T", " ").replace(/(\.\d+)?Z$/, "")} UTC`;

/** A time in the viewer's zone with its offset; pointing at it shows UTC. */
export const Time = ({ iso }: { readonly iso: string }) => (
  <time dateTime={iso} title={utcText(iso)} className={styles.time}>
    <DateAndTime text={timeText(iso)} />
  </time>
);

type StageTimeProps = {
  readonly iso: string;
  /** That of a closed period: the stage's may have changed since. */
  readonly zone?: string;
};

/** A time of the books, in the stage's zone with its offset; pointing at it shows UTC. */
export const StageTime = ({ iso, zone }: StageTimeProps) => {
  const { time_zone } = usePerson();
  const timeZone = zone ?? time_zone;
  const text = timeIn(Date.parse(iso), timeZone).replace("T", " ").replace(/\.\d+/, " ");
  return (
    <time dateTime={iso} title={utcText(iso)} className={styles.time}>
      <DateAndTime text={text} />
    </time>
  );
};

/** A time of an order's record, which is printed too: in the stage's zone, and in UTC. */
export const RecordTime = ({ iso }: { readonly iso: string }) => (
  <>
    <StageTime iso={iso} />
    <span className={styles.utc}>
      <DateAndTime text={utcText(iso)} />
    </span>
  </>
);

/** In a narrow column the time is in a line below the date. */
const DateAndTime = ({ text }: { readonly text: string }) => {
  const [date = "", time = ""] = text.split(/ (?=\d\d:)/);
  return (
    <>
      <Unbroken text={date} /> <Unbroken text={time} />
    </>
  );
};
