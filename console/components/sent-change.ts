import { liveSession } from "../sign-in/session.ts";
import { createStore } from "../store.ts";

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

const left = createStore<readonly LeftChange[]>([]);

/** The changes whose outcome no form can say: their page was left, or the person signed out in another tab. */
export const useLeftChanges = left.useValue;

export const forgetLeftChange = (change: LeftChange): void =>
  left.replace(left.read().filter((each) => each !== change));

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
