import { type ReactNode, useEffect } from "react";
import { LeftChanges } from "../components/change/left-changes.tsx";
import { BusyButton } from "../components/page/busy-button.tsx";
import { Notice } from "../components/page/notice.tsx";
import { SIGNED_OUT } from "../sign-in/sign-in.ts";
import { useSignIn } from "../sign-in/use-sign-in.ts";
import styles from "./shell.module.css";

type SignInPageProps = { readonly title: string; readonly error?: unknown; readonly children?: ReactNode };

const SignInPage = ({ title, error, children }: SignInPageProps) => {
  const { isLeaving, message, leave } = useSignIn(error);
  useEffect(() => {
    document.title = `${title} · Airtime console`;
  }, [title]);
  return (
    <main className={styles.alone}>
      <h1 tabIndex={-1}>{title}</h1>
      {children}
      {message !== undefined && (
        <Notice tone="bad" title="Nobody is signed in">
          {message}
        </Notice>
      )}
      <div>
        <BusyButton
          isBusy={isLeaving}
          onClick={() => void leave(location.pathname === SIGNED_OUT ? "/console" : undefined)}
        >
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
