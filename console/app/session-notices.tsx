import { Button } from "@mantine/core";
import { useEffect, useState, useSyncExternalStore } from "react";
import { Dialog, DialogButtons, DialogText } from "../components/change/dialog.tsx";
import { BusyButton } from "../components/page/busy-button.tsx";
import { Notice } from "../components/page/notice.tsx";
import { type Session, useSession } from "../sign-in/session.ts";
import { useSignIn } from "../sign-in/use-sign-in.ts";
import styles from "./shell.module.css";

const NOTICE_MS = 120_000;
const time = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });

/** What the person has to know about the session and the network, above the page. */
export const SessionNotices = () => {
  const session = useSession();
  const isOnline = useSyncExternalStore(subscribeToNetwork, () => navigator.onLine);
  const endsSoon = useEndsSoon(session);
  if (session === undefined) return null;
  return (
    <div className={styles.notices}>
      {!isOnline && (
        <Notice tone="attention" title="You are offline">
          The page shows what was loaded before.
        </Notice>
      )}
      {endsSoon && (
        <Notice
          tone="attention"
          title={`Your sign-in ends at ${time.format(session.endsAtMs)}`}
          action={<SignInAgain size="xs" />}
        >
          Forms that are open are kept.
        </Notice>
      )}
    </div>
  );
};

/** Opens when the service refuses the token, and again when another request is refused after it was closed. */
export const SessionEnded = () => {
  const session = useSession();
  const [closed, setClosed] = useState<Session>();
  const close = () => setClosed(session);
  return (
    <Dialog
      title="Your sign-in has ended"
      isOpen={session?.isRefused === true && closed !== session}
      onClose={close}
      isOnTop
    >
      <DialogText>Sign in again to go on. The page and what you typed are kept, except keys and secrets.</DialogText>
      <DialogButtons>
        <Button variant="default" onClick={close}>
          Not now
        </Button>
        <SignInAgain size="sm" />
      </DialogButtons>
    </Dialog>
  );
};

const SignInAgain = ({ size }: { readonly size: "xs" | "sm" }) => {
  const { isLeaving, message, leave } = useSignIn();
  return (
    <>
      <BusyButton size={size} isBusy={isLeaving} onClick={() => void leave()}>
        Sign in again
      </BusyButton>
      {message !== undefined && <span role="alert">{message}</span>}
    </>
  );
};

const subscribeToNetwork = (listener: () => void): (() => void) => {
  addEventListener("online", listener);
  addEventListener("offline", listener);
  return () => {
    removeEventListener("online", listener);
    removeEventListener("offline", listener);
  };
};

/** True from 2 minutes before the token expires. */
const useEndsSoon = (session: Session | undefined): boolean => {
  const [isSoon, setIsSoon] = useState(false);
  const endsAtMs = session?.endsAtMs;
  useEffect(() => {
    if (endsAtMs === undefined) return;
    const timer = setTimeout(() => setIsSoon(true), Math.max(0, endsAtMs - NOTICE_MS - Date.now()));
    return () => clearTimeout(timer);
  }, [endsAtMs]);
  return isSoon;
};
