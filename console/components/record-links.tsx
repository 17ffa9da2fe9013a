import { useAccountName } from "../api/use-account-name.ts";
import { accountPath, PageLink } from "./page-link.tsx";

/** The name of an account, which leads to its pages. Its id is shown when a person points at it. */
export const AccountLink = ({ account }: { readonly account: string }) => (
  <span title={account}>
    <PageLink to={accountPath(account)}>{useAccountName(account)}</PageLink>
  </span>
);

/** The reference of a transaction, which leads to its page. */
export const TransactionLink = ({ account, reference }: { readonly account: string; readonly reference: string }) => (
  <PageLink to={accountPath(account, "transactions", reference)}>{reference}</PageLink>
);
