import type { ReactNode } from "react";
import { useLocation } from "wouter";
import { moneyText } from "../../shared/contract/values/money.ts";
import { useOptionalAccount, useOwnAccount } from "../api/use-account.ts";
import { useChecks } from "../api/use-attention.ts";
import { useMayOpen } from "../api/use-may-open.ts";
import { usePerson } from "../api/use-person.ts";
import { useRead } from "../api/use-read.ts";
import { type Check, checkFound, checkName, checkToDo } from "../components/page/checks.tsx";
import { Notice } from "../components/page/notice.tsx";
import { accountPath, PageLink } from "../components/page/page-link.tsx";
import { Time } from "../components/values/time.tsx";
import type { Tone } from "../components/values/tones.ts";
import styles from "./shell.module.css";

const READ_EVERY_MS = 30_000;

/** What stops orders, above every page of the people whom it concerns. */
export const ServiceNotices = () => {
  const { seesService, may } = usePerson();
  const shown = useOptionalAccount();
  const own = useOwnAccount();
  const account = seesService ? shown : own;
  return (
    <div className={styles.notices}>
      {may("doctor") && <Checks />}
      {seesService && <PurchasesForService />}
      {!seesService && account !== undefined && <PurchasesForOwner account={account} />}
      {account !== undefined && <Restriction account={account} />}
      {account !== undefined && <WalletLow account={account} />}
      {account !== undefined && <EndpointsDown account={account} />}
    </div>
  );
};

/** What the checks of Doctor find: faults in full, and what a person should look into in full on Today alone. */
const Checks = () => {
  const [path] = useLocation();
  const { data } = useChecks();
  if (data === undefined || path === "/doctor") return null;
  const found = (state: Check["state"]) => data.checks.filter((check) => check.state === state && !hasNotice(check));
  return (
    <>
      <Found tone="bad" titles={["1 check finds a fault", "checks find a fault"]} checks={found("wrong")} />
      <Found
        tone="attention"
        titles={["1 thing needs attention", "things need attention"]}
        checks={found("look")}
        isShort={path !== "/"}
      />
    </>
  );
};

/** Purchases that are switched off have a notice of their own, with time and reason. */
const hasNotice = ({ check, state }: Check): boolean => check === "selling" && state === "look";

type FoundProps = {
  readonly tone: Tone;
  readonly titles: readonly [one: string, several: string];
  readonly checks: readonly Check[];
  /** Only names what was checked, and leaves the page its place. */
  readonly isShort?: boolean;
};

const Found = ({ tone, titles: [one, several], checks, isShort = false }: FoundProps) => {
  if (checks.length === 0) return null;
  return (
    <Notice
      tone={tone}
      title={checks.length === 1 ? one : `${checks.length} ${several}`}
      action={<PageLink to="/doctor">Doctor</PageLink>}
    >
      {isShort ? (
        checks.map(checkName).join(", ")
      ) : (
        // How long a fault lasts changes with each read, and would be read out again and again.
        <ul aria-live="off">
          {checks.map((check) => (
            <li key={check.check}>
              {checkName(check)}: {checkFound(check)}. {checkToDo(check)}
            </li>
          ))}
        </ul>
      )}
    </Notice>
  );
};

const PurchasesForService = () => {
  const { data } = useRead("purchases show", {}, { everyMs: READ_EVERY_MS });
  const mayOpen = useMayOpen();
  return (
    data && <PurchasesOff {...data} action={mayOpen("/upstream") && <PageLink to="/upstream">Upstream</PageLink>} />
  );
};

const PurchasesForOwner = ({ account }: { readonly account: string }) => {
  const { data } = useRead("purchases state", { account }, { everyMs: READ_EVERY_MS });
  return data && <PurchasesOff {...data} />;
};

type Switched = { readonly since: string | null; readonly by?: string | null; readonly why: string | null };
type PurchasesOffProps = Switched & {
  readonly purchases: "on" | "off";
  readonly parts: readonly (Switched & { readonly part: string })[];
  readonly action?: ReactNode;
};

const PurchasesOff = ({ purchases, parts, action, ...whole }: PurchasesOffProps) =>
  purchases === "off" ? (
    <SwitchedOff title="Purchases are off" orders="New orders and identity checks" {...whole} action={action} />
  ) : (
    parts.map(({ part, ...each }) => (
      <SwitchedOff key={part} title={`${part} is off`} orders={`New orders of ${part}`} {...each} action={action} />
    ))
  );

type SwitchedOffProps = Switched & { readonly title: string; readonly orders: string; readonly action: ReactNode };

const SwitchedOff = ({ title, orders, since, by, why, action }: SwitchedOffProps) => (
  <Notice tone="attention" title={title} action={action}>
    {orders} of every app are refused (503)
    {since !== null && (
      <>
        {" since "}
        <Time iso={since} />
      </>
    )}
    {typeof by === "string" && (
      <>
        , by <bdi>{by}</bdi>
      </>
    )}
    .{" "}
    {why !== null && (
      <>
        Reason: <bdi>{why}</bdi>
      </>
    )}
  </Notice>
);

const Restriction = ({ account }: { readonly account: string }) => {
  const { data } = useRead("accounts show", { account }, { everyMs: READ_EVERY_MS });
  const mayOpen = useMayOpen();
  if (data === undefined || data.status === "active") return null;
  const isClosed = data.status === "closed";
  const log = accountPath(account, "audit");
  return (
    <Notice
      tone="attention"
      title={isClosed ? "This account is closed" : "This account is restricted"}
      action={mayOpen(log) && <PageLink to={log}>Audit log</PageLink>}
    >
      {isClosed ? "The keys of " : "Every request of "}
      <bdi>{data.name}</bdi>
      {isClosed
        ? " are revoked, and nothing is booked any more."
        : " is refused (403) until an operator lifts the restriction."}
    </Notice>
  );
};

const WalletLow = ({ account }: { readonly account: string }) => {
  const { data } = useRead("wallet show", { account }, { everyMs: READ_EVERY_MS });
  const threshold = data?.low_balance_threshold ?? 0;
  if (data === undefined || data.balance >= threshold) return null;
  return (
    <Notice
      tone="attention"
      title={data.balance <= 0 ? "The wallet is empty" : "The wallet is low"}
      action={<PageLink to={accountPath(account)}>Overview</PageLink>}
    >
      {moneyText(data.balance)} are left, and the balance counts as low below {moneyText(threshold)}. An order above the
      balance is refused (400).
    </Notice>
  );
};

const EndpointsDown = ({ account }: { readonly account: string }) => {
  const { data: shown } = useRead("accounts show", { account }, { everyMs: READ_EVERY_MS });
  const { data } = useRead("webhook list", { account }, { everyMs: READ_EVERY_MS });
  // The endpoints of a closed account are disabled, and nobody can enable them.
  if (shown === undefined || shown.status === "closed") return null;
  const failing = data?.endpoints.filter(({ status, down }) => status === "off" || down) ?? [];
  return failing.map(({ endpoint, name, status, failing_since }) => (
    <Notice
      key={endpoint}
      tone="attention"
      title={
        <>
          Webhook endpoint {status === "on" ? "down" : "switched off"}: <bdi>{name}</bdi>
        </>
      }
      action={<PageLink to={accountPath(account, "webhooks", endpoint ?? "")}>Endpoint</PageLink>}
    >
      {status === "on"
        ? "Webhooks wait, and one at a time is sent as a probe."
        : "No webhook is sent to it until a person enables it."}
      {failing_since !== null && (
        <>
          {" None was delivered since "}
          <Time iso={failing_since} />.
        </>
      )}
    </Notice>
  ));
};
