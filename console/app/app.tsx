import { QueryClientProvider } from "@tanstack/react-query";
import { type ReactNode, useEffect, useMemo } from "react";
import { Router } from "wouter";
import type { ActionOutput } from "../../shared/contract/actions/actions.ts";
import { queryClient } from "../api/query-client.ts";
import { PersonContext, personOf } from "../api/use-person.ts";
import { useRead } from "../api/use-read.ts";
import { ShownOnceDialogs } from "../components/change/shown-once-dialog.tsx";
import { Announcements } from "../components/page/announce.tsx";
import { Query } from "../components/page/query.tsx";
import { useSession } from "../sign-in/session.ts";
import { usePagePreload } from "./pages.ts";
import { SessionEnded } from "./session-notices.tsx";
import styles from "./shell.module.css";
import { Shell } from "./shell.tsx";
import { SignedOutPage } from "./sign-in-pages.tsx";

/** The console of the person who signed in; without a session, the page that offers to sign in. */
export const App = () => {
  const isSignedIn = useSession() !== undefined;
  useEffect(() => {
    if (!isSignedIn) queryClient.clear();
  }, [isSignedIn]);
  if (!isSignedIn) return <SignedOutPage />;
  return (
    <QueryClientProvider client={queryClient}>
      <Router base="/console">
        <SignedIn />
      </Router>
      <Announcements />
      <SessionEnded />
    </QueryClientProvider>
  );
};

const SignedIn = () => {
  usePagePreload();
  const me = useRead("me", {});
  if (me.data === undefined) {
    return (
      <main className={styles.alone}>
        <Query of={me}>{() => null}</Query>
      </main>
    );
  }
  return (
    <Person me={me.data}>
      <ShownOnceDialogs>
        <Shell />
      </ShownOnceDialogs>
    </Person>
  );
};

const Person = ({ me, children }: { readonly me: ActionOutput<"me">; readonly children: ReactNode }) => {
  const person = useMemo(() => personOf(me), [me]);
  return <PersonContext value={person}>{children}</PersonContext>;
};
