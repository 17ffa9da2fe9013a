import { Button, useComputedColorScheme, useMantineColorScheme } from "@mantine/core";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { Redirect, useLocation } from "wouter";
import { ActionError } from "../api/action-error.ts";
import type { ListedPage } from "../api/page-list.ts";
import { useOptionalAccount } from "../api/use-account.ts";
import { useShownAccountName } from "../api/use-account-name.ts";
import { type Person, usePerson } from "../api/use-person.ts";
import { useRead } from "../api/use-read.ts";
import { LeftChanges } from "../components/change/left-changes.tsx";
import { Empty } from "../components/page/empty.tsx";
import { Icon } from "../components/page/icon.tsx";
import { Page } from "../components/page/page.tsx";
import { accountPath, PageLink } from "../components/page/page-link.tsx";
import { Loading } from "../components/page/query.tsx";
import { SearchProvider } from "../components/table/search.tsx";
import { signOut } from "../sign-in/sign-in.ts";
import { ErrorBoundary } from "./error-boundary.tsx";
import { Navigation } from "./navigation.tsx";
import { useCurrentPage } from "./pages.ts";
import { SearchField } from "./search-field.tsx";
import { ServiceNotices } from "./service-notices.tsx";
import { SessionNotices } from "./session-notices.tsx";
import styles from "./shell.module.css";

/** Header, navigation and the page of the path. */
export const Shell = () => {
  const [path] = useLocation();
  const [isMenuOpen, setIsMenuOpen] = useState(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: The menu closes when the page changes.
  useEffect(() => setIsMenuOpen(false), [path]);
  const navigation = useRef<HTMLElement>(null);
  useEffect(() => {
    // It opens above the page, which may be scrolled.
    if (isMenuOpen) navigation.current?.scrollIntoView();
  }, [isMenuOpen]);
  return (
    <div className={styles.shell}>
      <a href="#main" className={styles.skip}>
        Skip to the page
      </a>
      <SearchProvider>
        <Header isMenuOpen={isMenuOpen} onMenu={() => setIsMenuOpen((isOpen) => !isOpen)} />
        <nav ref={navigation} id="navigation" aria-label="Pages" className={styles.navigation} data-open={isMenuOpen}>
          <Navigation />
        </nav>
        <main id="main" tabIndex={-1} className={styles.main}>
          <PrintedHead />
          <SessionNotices />
          <ServiceNotices />
          <div className={styles.notices}>
            <LeftChanges />
          </div>
          <ErrorBoundary key={path}>
            <CurrentPage />
          </ErrorBoundary>
        </main>
      </SearchProvider>
    </div>
  );
};

const stageTexts = {
  live: "Live: real money and real people",
  test: "Test: no money, and nothing reaches the upstream",
  local: "This machine: made-up money",
} as const;

const Header = ({ isMenuOpen, onMenu }: { readonly isMenuOpen: boolean; readonly onMenu: () => void }) => {
  const { by, stage, roles } = usePerson();
  return (
    <header className={styles.header}>
      <p className={styles.stage} data-colour={stage.colour}>
        <strong>{stage.name}</strong> {stageTexts[stage.kind]}
      </p>
      <Button
        variant="subtle"
        className={styles.menuButton}
        aria-expanded={isMenuOpen}
        aria-controls="navigation"
        leftSection={<Icon name="menu" />}
        onClick={onMenu}
      >
        Menu
      </Button>
      <span className={styles.brand}>Airtime console</span>
      <SearchField />
      <span className={styles.person}>
        <bdi>{by}</bdi>
        {roles.length > 0 && <span className={styles.role}>{roles.join(", ")}</span>}
      </span>
      <ColorSchemeButton />
      <Button variant="default" size="xs" onClick={() => void signOut()}>
        Sign out
      </Button>
    </header>
  );
};

/** Whose page it is, which on paper neither the header nor the navigation says. */
const PrintedHead = () => {
  const account = useOptionalAccount();
  return (
    <p className={styles.printed}>
      Stage {usePerson().stage.name}.{account !== undefined && <PrintedAccount account={account} />}
    </p>
  );
};

const PrintedAccount = ({ account }: { readonly account: string }) => (
  <>
    {" "}
    Account <bdi>{useShownAccountName(account)}</bdi> ({account}).
  </>
);

const ColorSchemeButton = () => {
  // To suppress transitions, Mantine would add a style tag.
  const { setColorScheme } = useMantineColorScheme({ keepTransitions: true });
  const isDark = useComputedColorScheme("light") === "dark";
  return (
    <Button
      variant="default"
      size="xs"
      px={7}
      aria-label={isDark ? "Light colours" : "Dark colours"}
      onClick={() => setColorScheme(isDark ? "light" : "dark")}
    >
      <Icon name={isDark ? "sun" : "moon"} />
    </Button>
  );
};

const CurrentPage = () => {
  const person = usePerson();
  const [path] = useLocation();
  const page = useCurrentPage();
  const home = homeOf(person);
  if (home === undefined) return <NoRolePage />;
  if (path === "/" && home !== "/") return <Redirect to={home} replace />;
  if (page === undefined) {
    return (
      <Page title="No such page">
        <Empty>
          This page does not exist. <PageLink to={home}>Go to the first page</PageLink>
        </Empty>
      </Page>
    );
  }
  return <Allowed page={page}>{page.Component === undefined ? <Loading /> : <page.Component />}</Allowed>;
};

/** The page of a person who names none; undefined without any role. */
const homeOf = ({ seesService, owns }: Person): string | undefined => {
  const [first] = owns;
  if (seesService) return "/";
  return first && accountPath(first.account_id);
};

const Allowed = ({
  page: { audience, needs },
  children,
}: {
  readonly page: Pick<ListedPage, "audience" | "needs">;
  readonly children: ReactNode;
}) => {
  const { seesService, may, roles } = usePerson();
  const account = useOptionalAccount();
  const { error } = useRead(
    "accounts show",
    { account: account ?? "" },
    { enabled: seesService && account !== undefined },
  );
  if (seesService && error instanceof ActionError && error.details.status === 404) {
    return (
      <Page title="No such account">
        <Empty>
          No account has the id {account}. <PageLink to="/accounts">Show all accounts</PageLink>
        </Empty>
      </Page>
    );
  }
  if (may(needs, account)) return children;
  return (
    <Page title="Not your page">
      <Empty>
        {seesService &&
          `The role ${roles.join(" or ")} does not include this page. Ask an operator for what you need from it.`}
        {!seesService &&
          audience === "service" &&
          "Only people with a role see this page. Choose one of your accounts."}
        {!seesService &&
          audience !== "service" &&
          "No account of yours has this id. An operator can make you an owner of the account."}
      </Empty>
    </Page>
  );
};

const NoRolePage = () => {
  const { by } = usePerson();
  return (
    <Page title="You have no access yet">
      <Empty>
        You are signed in as <bdi>{by}</bdi>, but own no account and are in no group of this console. Ask the operators
        of the service to make you an owner of your app's account, then sign in again.
      </Empty>
    </Page>
  );
};
