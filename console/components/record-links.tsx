import type { ReactNode } from "react";
import { useAccountName } from "../api/use-account-name.ts";
import { accountPath, PageLink } from "./page-link.tsx";
import styles from "./values.module.css";

type AccountLinkProps = {
  readonly account: string;
  /** The last part of the page's path; absent: the overview. */
  readonly page?: string;
};

/** The name of an account, which leads to its pages. Its id is shown when a person points at it. */
export const AccountLink = ({ account, page }: AccountLinkProps) => (
  <span title={account}>
    <PageLink to={accountPath(account, ...(page === undefined ? [] : [page]))}>{useAccountName(account)}</PageLink>
  </span>
);

/** A long reference or id, which breaks into few lines in a narrow column. */
export const Reference = ({ children }: { readonly children: ReactNode }) => (
  <span className={styles.reference}>{children}</span>
);

/** The reference of a transaction, which leads to its page. */
export const TransactionLink = ({ account, reference }: { readonly account: string; readonly reference: string }) => (
  <Reference>
    <PageLink to={accountPath(account, "transactions", reference)}>{reference}</PageLink>
  </Reference>
);
