import { useSyncExternalStore } from "react";

/** Somebody who signed in. It is kept in memory only, so a reload of the page goes to the provider again. */
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

let session: Session | undefined;
const listeners = new Set<() => void>();

const replaceSession = (next: Session | undefined): void => {
  session = next;
  for (const listener of listeners) listener();
};

export const currentSession = (): Session | undefined => session;

export const beginSession = (next: Omit<Session, "isRefused">): void => replaceSession({ ...next, isRefused: false });

export const endSession = (): void => replaceSession(undefined);

/** The service answered 401 to a request with this token. */
export const refuseSession = (token: string): void => {
  if (session?.token === token) replaceSession({ ...session, isRefused: true });
};

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const useSession = (): Session | undefined => useSyncExternalStore(subscribe, currentSession);
