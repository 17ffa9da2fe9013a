import { useEffect } from "react";
import { createStore } from "../../store.ts";
import styles from "./announce.module.css";
import { Icon } from "./icon.tsx";
import { shownMs } from "./reading-time.ts";

type Announcement = { readonly sentence: string; readonly id: number };

const announcement = createStore<Announcement | undefined>(undefined);

/** Says that something succeeded: a sentence at the edge of the page for as long as reading it takes, read out by screen readers. */
export const announce = (sentence: string): void =>
  announcement.replace({ sentence, id: (announcement.read()?.id ?? 0) + 1 });

/** Where announcements appear; it is always in the page, so that screen readers notice a change. */
export const Announcements = () => {
  const shown = announcement.useValue();
  useEffect(() => {
    if (shown === undefined) return;
    const timer = setTimeout(() => announcement.replace(undefined), shownMs(shown.sentence));
    return () => clearTimeout(timer);
  }, [shown]);
  return (
    <div role="status" className={styles.region}>
      {shown !== undefined && (
        <div key={shown.id} className={styles.announcement} data-tone="good">
          <Icon name="check" />
          {shown.sentence}
        </div>
      )}
    </div>
  );
};
