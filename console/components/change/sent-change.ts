import { useEffect, useRef } from "react";
import { liveSession } from "../../sign-in/session.ts";
import { createStore } from "../../store.ts";

/** `unknown`: no answer arrived. `interrupted`: of a change that takes several requests, one failed. */
export type Outcome = "made" | "proposed" | "refused" | "unknown" | "interrupted";

/** A change whose form is gone; without an outcome while its answer is awaited. */
export type LeftChange = {
  readonly id: string;
  readonly title: string;
  /** Its answer has a key or a signing secret, which nothing can show any more. */
  readonly makesSecret: boolean;
  readonly outcome?: Outcome;
};

const left = createStore<readonly LeftChange[]>([]);

/** The changes whose outcome no form can say: their page was left, or the person signed out in another tab. */
export const useLeftChanges = left.useValue;

export const forgetLeftChange = (change: LeftChange): void =>
  left.replace(left.read().filter((each) => each !== change));

type SentChange = {
  /** The form is gone. */
  readonly leave: () => void;
  readonly end: (outcome: Outcome) => void;
};

/** Follows a change that is sent now. */
const followChange = (sent: Pick<LeftChange, "title" | "makesSecret">): SentChange => {
  const change = { id: crypto.randomUUID(), ...sent };
  let shown: LeftChange | undefined;
  let isEnded = false;
  const show = (next: LeftChange | undefined): void => {
    left.replace([...left.read().filter((each) => each !== shown), ...(next === undefined ? [] : [next])]);
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

/** For a form or a page that sends changes. Those without an outcome when it is gone are shown in its place. */
export const useFollowedChanges = (): typeof followChange => {
  const sent = useRef<SentChange>(undefined);
  const isLeft = useRef(false);
  useEffect(() => {
    isLeft.current = false;
    return () => {
      isLeft.current = true;
      sent.current?.leave();
    };
  }, []);
  return (what) => {
    const change = followChange(what);
    sent.current = change;
    if (isLeft.current) change.leave();
    return change;
  };
};
