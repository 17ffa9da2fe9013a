import { useState } from "react";
import { SignInError, signIn } from "./sign-in.ts";

const messageOf = (error: unknown): string =>
  error instanceof SignInError ? error.message : "The page failed unexpectedly. Reload it.";

/** For a button that leads to the provider: whether the browser is leaving, and why it could not. */
export const useSignIn = (before?: unknown) => {
  const [isLeaving, setIsLeaving] = useState(false);
  const [error, setError] = useState(before);
  const leave = async (path?: string) => {
    setIsLeaving(true);
    try {
      await signIn(path);
    } catch (failure) {
      setError(failure);
      setIsLeaving(false);
    }
  };
  return { isLeaving, message: error === undefined ? undefined : messageOf(error), leave };
};
