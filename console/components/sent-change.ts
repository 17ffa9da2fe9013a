import { useSyncExternalStore } from "react";
import { liveSession } from "../sign-in/session.ts";

/** `unknown`: no answer arrived. */
type Outcome = "made" | "proposed" | "refused" | "unknown";

/** A change whose form is gone; without an outcome while its answer is awaited. */
export type LeftChange = {
  readonly id: string;
  readonly title: string;
  /** Its answer has a key or a signing secret, which nothing can show any more. */
  readonly makesSecret: boolean;
  readonly outcome?: Outcome;
};

let left: readonly LeftChange[] = [];
const listeners = new Set<() => void>();

const replaceLeft = (next: readonly LeftChange[]): void => {
  left = next;
  for (const listener of listeners) listener();
};

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** The changes whose outcome no form can say: their page was left, or the person signed out in another tab. */
export const useLeftChanges = (): readonly LeftChange[] => useSyncExternalStore(subscribe, () => left);

export const forgetLeftChange = (change: LeftChange): void => replaceLeft(left.filter((each) => each !== change));

export type SentChange = {
  /** The form is gone. */
  readonly leave: () => void;
  readonly end: (outcome: Outcome) => void;
};

/** Follows a change that a form sends now. */
export const followChange = (sent: Pick<LeftChange, "title" | "makesSecret">): SentChange => {
  const change = { id: crypto.randomUUID(), ...sent };
  let shown: LeftChange | undefined;
  let isEnded = false;
  const show = (next: LeftChange | undefined): void => {
    replaceLeft([...left.filter((each) => each !== shown), ...(next === undefined ? [] : [next])]);
    shown = next;
  };
  return {
    leave: () => {
      if (!isEnded) show(change);
    },
    end: (outcome) => {
      isEnded = true;
      if (shown === undefined) return;
      // Within a session, success is announced, and a secret is shown.
      const isAnnounced = liveSession() !== undefined && (outcome === "made" || outcome === "proposed");
      show(isAnnounced ? undefined : { ...change, outcome });
    },
  };
};
