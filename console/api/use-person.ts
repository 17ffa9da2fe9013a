import { createContext, useContext } from "react";
import type { ActionOutput } from "../../shared/contract/actions/actions.ts";

export type Person = ActionOutput<"me"> & {
  /** Whether the page offers changes: of this account, or of the whole service. The service decides itself. */
  readonly mayChange: (account?: string) => boolean;
  /** Whether pages about the whole service are shown. */
  readonly seesService: boolean;
};

export const personOf = (me: ActionOutput<"me">): Person => ({
  ...me,
  mayChange: (account) =>
    me.role === "operator" || (account !== undefined && me.owns.some((owned) => owned.account_id === account)),
  seesService: me.role !== null,
});

export const PersonContext = createContext<Person | undefined>(undefined);

/** The person who signed in. */
export const usePerson = (): Person => {
  const person = useContext(PersonContext);
  if (person === undefined) throw new Error("usePerson outside of the signed-in page");
  return person;
};
