import { useAccountName } from "../../api/use-account-name.ts";
import { accountPath, PageLink } from "../page/page-link.tsx";
import type { Preset } from "../period/period.ts";
import styles from "./values.module.css";

type AccountLinkProps = {
  readonly account: string;
  /** The last part of the page's path; absent: the overview. */
  readonly page?: string;
  /** The dates that the page is to show. */
  readonly period?: Pick<Preset, "from" | "to">;
};

/** The name of an account, which leads to its pages. Its id is shown when a person points at it. */
export const AccountLink = ({ account, page, period }: AccountLinkProps) => {
  const path = accountPath(account, ...(page === undefined ? [] : [page]));
  return (
    <span title={account} className={styles.breakable}>
      <PageLink
        to={period === undefined ? path : `${path}?${new URLSearchParams({ from: period.from, to: period.to })}`}
      >
        {useAccountName(account)}
      </PageLink>
    </span>
  );
};

/** A link whose text is a reference. In a narrow column it breaks after what comes before its underscore. */
export const ReferenceLink = ({ to, reference }: { readonly to: string; readonly reference: string }) => {
  const place = reference.indexOf("_") + 1;
  return (
    <span className={styles.reference}>
      <PageLink to={to}>
        {reference.slice(0, place)}
        <wbr />
        {reference.slice(place)}
      </PageLink>
    </span>
  );
};

export const TransactionLink = ({ account, reference }: { readonly account: string; readonly reference: string }) => (
  <ReferenceLink to={accountPath(account, "transactions", reference)} reference={reference} />
);

/** The label of the table of a wallet's statement, and how it names its rows. */
export const STATEMENT_TABLE = "Statement";
export const lineKey = ({ kind, id }: { readonly kind: string; readonly id: string }): string => `${kind} ${id}`;
