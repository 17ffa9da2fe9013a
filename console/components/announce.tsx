import { useEffect, useSyncExternalStore } from "react";
import styles from "./announce.module.css";
import { Icon } from "./icon.tsx";
import { shownMs } from "./reading-time.ts";

type Announcement = { readonly sentence: string; readonly id: number };

let announcement: Announcement | undefined;
const listeners = new Set<() => void>();

const replace = (next: Announcement | undefined): void => {
  announcement = next;
  for (const listener of listeners) listener();
};

/** Says that something succeeded: a sentence at the edge of the page for as long as reading it takes, read out by screen readers. */
export const announce = (sentence: string): void => replace({ sentence, id: (announcement?.id ?? 0) + 1 });

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** Where announcements appear; it is always in the page, so that screen readers notice a change. */
export const Announcements = () => {
  const shown = useSyncExternalStore(subscribe, () => announcement);
  useEffect(() => {
    if (shown === undefined) return;
    const timer = setTimeout(() => replace(undefined), shownMs(shown.sentence));
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
