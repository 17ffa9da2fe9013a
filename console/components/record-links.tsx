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

/** The reference of a transaction, which leads to its page. */
export const TransactionLink = ({ account, reference }: { readonly account: string; readonly reference: string }) => (
  <span className={styles.reference}>
    <PageLink to={accountPath(account, "transactions", reference)}>{reference}</PageLink>
  </span>
);
