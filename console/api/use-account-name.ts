import { usePerson } from "./use-person.ts";
import { useRead } from "./use-read.ts";

const FRESH_MS = 300_000;

/** The name of an account, as soon as it is known; its id until then. */
export const useAccountName = (account: string): string => {
  const { owns, seesService } = usePerson();
  const { data } = useRead("accounts list", {}, { enabled: seesService, freshMs: FRESH_MS });
  return [...owns, ...(data?.accounts ?? [])].find(({ account_id }) => account_id === account)?.name ?? account;
};

/** The name of the account whose page is shown, by what every page of an account reads. */
export const useShownAccountName = (account: string): string => {
  const { owns, seesService } = usePerson();
  const own = owns.find(({ account_id }) => account_id === account)?.name;
  const { data } = useRead("accounts show", { account }, { enabled: seesService && own === undefined });
  return own ?? data?.name ?? account;
};
