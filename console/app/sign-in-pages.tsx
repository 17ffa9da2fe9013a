import { type ReactNode, useEffect, useState } from "react";
import { BusyButton } from "../components/busy-button.tsx";
import { LeftChanges } from "../components/left-changes.tsx";
import { Notice } from "../components/notice.tsx";
import { SIGNED_OUT, SignInError, signIn } from "../sign-in/sign-in.ts";
import styles from "./shell.module.css";

const messageOf = (error: unknown): string =>
  error instanceof SignInError ? error.message : "The page failed unexpectedly. Reload it.";

type SignInPageProps = { readonly title: string; readonly error?: unknown; readonly children?: ReactNode };

const SignInPage = ({ title, error: firstError, children }: SignInPageProps) => {
  const [error, setError] = useState(firstError);
  const [isLeaving, setIsLeaving] = useState(false);
  useEffect(() => {
    document.title = `${title} · Airtime console`;
  }, [title]);
  const leave = async () => {
    setIsLeaving(true);
    try {
      await signIn(location.pathname === SIGNED_OUT ? "/console" : undefined);
    } catch (failure) {
      setError(failure);
      setIsLeaving(false);
    }
  };
  return (
    <main className={styles.alone}>
      <h1>{title}</h1>
      {children}
      {error !== undefined && (
        <Notice tone="bad" title="Nobody is signed in">
          {messageOf(error)}
        </Notice>
      )}
      <div>
        <BusyButton isBusy={isLeaving} onClick={() => void leave()}>
          Sign in
        </BusyButton>
      </div>
    </main>
  );
};

export const SignedOutPage = () => (
  <SignInPage title="You are signed out">
    <LeftChanges />
    <p>You may still be signed in at your company's sign-in page. Sign out there too on a shared machine.</p>
  </SignInPage>
);

export const SignInFailedPage = ({ error }: { readonly error: unknown }) => (
  <SignInPage title="Signing in failed" error={error} />
);
