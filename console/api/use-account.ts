import { useRoute } from "wouter";

/** The account that the path names; undefined on pages about the whole service. */
export const useOptionalAccount = (): string | undefined => {
  const [, params] = useRoute("/accounts/:account/*?");
  return params?.account;
};

/** The account of an account page, from its path. */
export const useAccount = (): string => {
  const account = useOptionalAccount();
  if (account === undefined) throw new Error("useAccount outside of an account page");
  return account;
};
