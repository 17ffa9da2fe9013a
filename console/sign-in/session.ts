import { useSyncExternalStore } from "react";

/** A person who signed in. It is kept in memory only, so a reload of the page goes to the provider again. */
export type Session = {
  /** The ID token, which every request sends. */
  readonly token: string;
  /** Who it is, by the provider. */
  readonly subject: string;
  readonly signedInAtMs: number;
  /** When the token expires, by the clock of this machine. */
  readonly endsAtMs: number;
  /** The service refused the token: the person has to sign in again. */
  readonly isRefused: boolean;
};

/** Changes with each sign-out in any tab of this browser. A session ends once it is another than when it began. */
const SIGN_OUT = "console.sign-out";

let session: Session | undefined;
let signOutBefore: string | null = null;
const listeners = new Set<() => void>();

const replaceSession = (next: Session | undefined): void => {
  session = next;
  for (const listener of listeners) listener();
};

const currentSession = (): Session | undefined => session;

export const beginSession = (next: Omit<Session, "isRefused">): void => {
  signOutBefore = localStorage.getItem(SIGN_OUT);
  replaceSession({ ...next, isRefused: false });
};

/** The session with which a request may be sent; undefined also after a sign-out in another tab that did not reach this one. */
export const liveSession = (): Session | undefined => {
  if (session !== undefined && localStorage.getItem(SIGN_OUT) !== signOutBefore) replaceSession(undefined);
  return session;
};

/** Ends the session in every tab. */
export const endSession = (): void => {
  localStorage.setItem(SIGN_OUT, crypto.randomUUID());
  replaceSession(undefined);
};

// Another tab wrote, or cleared, the browser's storage.
addEventListener("storage", liveSession);

/** The service answered 401 to a request with this token. */
export const refuseSession = (token: string): void => {
  if (session?.token === token) replaceSession({ ...session, isRefused: true });
};

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const useSession = (): Session | undefined => useSyncExternalStore(subscribe, currentSession);
