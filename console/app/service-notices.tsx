import type { ReactNode } from "react";
import { useLocation } from "wouter";
import { useOptionalAccount } from "../api/use-account.ts";
import { usePerson } from "../api/use-person.ts";
import { useRead } from "../api/use-read.ts";
import { checkName } from "../components/checks.tsx";
import { Notice } from "../components/notice.tsx";
import { accountPath, PageLink } from "../components/page-link.tsx";
import { Time } from "../components/time.tsx";
import styles from "./shell.module.css";

const READ_EVERY_MS = 30_000;
/** All checks together read more. */
const CHECK_EVERY_MS = 60_000;

/** What stops orders, above every page of the people whom it concerns. */
export const ServiceNotices = () => {
  const { seesService, owns } = usePerson();
  const shown = useOptionalAccount();
  const account = seesService ? shown : (owns.find(({ account_id }) => account_id === shown) ?? owns[0])?.account_id;
  return (
    <div className={styles.notices}>
      {seesService && <Faults />}
      {seesService && <PurchasesForService />}
      {!seesService && account !== undefined && <PurchasesForOwner account={account} />}
      {account !== undefined && <Restriction account={account} />}
    </div>
  );
};

/** What the checks of Doctor find wrong. */
const Faults = () => {
  const [path] = useLocation();
  const { data } = useRead("doctor", {}, { everyMs: CHECK_EVERY_MS });
  const wrong = data?.checks.filter(({ state }) => state === "wrong") ?? [];
  if (wrong.length === 0 || path === "/doctor") return null;
  return (
    <Notice
      tone="bad"
      title={wrong.length === 1 ? "1 check finds a fault" : `${wrong.length} checks find a fault`}
      action={<PageLink to="/doctor">Doctor</PageLink>}
    >
      <ul className={styles.faults}>
        {wrong.map((check) => (
          <li key={check.check}>
            {checkName(check)}: {check.found}
          </li>
        ))}
      </ul>
    </Notice>
  );
};

const PurchasesForService = () => {
  const { data } = useRead("purchases show", {}, { everyMs: READ_EVERY_MS });
  if (data?.purchases !== "off") return null;
  return <PurchasesOff {...data} action={<PageLink to="/upstream">Upstream</PageLink>} />;
};

const PurchasesForOwner = ({ account }: { readonly account: string }) => {
  const { data } = useRead("purchases state", { account }, { everyMs: READ_EVERY_MS });
  return data?.purchases === "off" ? <PurchasesOff {...data} /> : null;
};

type PurchasesOffProps = {
  readonly since: string | null;
  readonly by?: string | null;
  readonly why: string | null;
  readonly action?: ReactNode;
};

const PurchasesOff = ({ since, by, why, action }: PurchasesOffProps) => (
  <Notice tone="attention" title="Purchases are off" action={action}>
    New orders and identity checks of every app are refused (503)
    {since !== null && (
      <>
        {" since "}
        <Time iso={since} />
      </>
    )}
    {typeof by === "string" && `, by ${by}`}. {why !== null && `Reason: ${why}`}
  </Notice>
);

const Restriction = ({ account }: { readonly account: string }) => {
  const { data } = useRead("accounts show", { account }, { everyMs: READ_EVERY_MS });
  if (data?.status !== "restricted") return null;
  return (
    <Notice
      tone="attention"
      title="This account is restricted"
      action={<PageLink to={accountPath(account, "audit")}>Audit log</PageLink>}
    >
      Every request of {data.name} is refused (403) until an operator lifts the restriction.
    </Notice>
  );
};
