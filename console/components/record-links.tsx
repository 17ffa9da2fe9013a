import { accountPath, PageLink } from "./page-link.tsx";

/** The id of an account, which leads to its pages. */
export const AccountLink = ({ account }: { readonly account: string }) => (
  <PageLink to={accountPath(account)}>{account}</PageLink>
);

/** The reference of a transaction, which leads to its page. */
export const TransactionLink = ({ account, reference }: { readonly account: string; readonly reference: string }) => (
  <PageLink to={accountPath(account, "transactions", reference)}>{reference}</PageLink>
);
