import { createStore } from "../store.ts";

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

const session = createStore<Session | undefined>(undefined);
let signOutBefore: string | null = null;

export const beginSession = (next: Omit<Session, "isRefused">): void => {
  signOutBefore = localStorage.getItem(SIGN_OUT);
  session.replace({ ...next, isRefused: false });
};

/** The session with which a request may be sent; undefined also after a sign-out in another tab that did not reach this one. */
export const liveSession = (): Session | undefined => {
  if (session.read() !== undefined && localStorage.getItem(SIGN_OUT) !== signOutBefore) session.replace(undefined);
  return session.read();
};

/** Ends the session in every tab. */
export const endSession = (): void => {
  localStorage.setItem(SIGN_OUT, crypto.randomUUID());
  session.replace(undefined);
};

// Another tab wrote, or cleared, the browser's storage.
addEventListener("storage", liveSession);

/** The service answered 401 to a request with this token. */
export const refuseSession = (token: string): void => {
  const current = session.read();
  if (current?.token === token) session.replace({ ...current, isRefused: true });
};

export const useSession = session.useValue;
