import { useRoute } from "wouter";
import { usePerson } from "./use-person.ts";

/** The account that the path names; undefined on pages about the whole service. */
export const useOptionalAccount = (): string | undefined => {
  const [, params] = useRoute("/accounts/:account/*?");
  return params?.account;
};

/** The account of an owner that was shown last, until the page is loaded again. */
let lastShown: string | undefined;

/**
 * The own account that is shown, or was shown before a page that is about none; undefined for a person who owns none. An
 * owner of several would otherwise go from such a page to another account than before.
 */
export const useOwnAccount = (): string | undefined => {
  const { owns } = usePerson();
  const shown = useOptionalAccount();
  const isOwn = (account: string | undefined) => owns.some(({ account_id }) => account_id === account);
  if (isOwn(shown)) lastShown = shown;
  return isOwn(lastShown) ? lastShown : owns[0]?.account_id;
};

export const useAccount = (): string => {
  const account = useOptionalAccount();
  if (account === undefined) throw new Error("useAccount outside of an account page");
  return account;
};
