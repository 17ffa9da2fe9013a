import { createContext, useContext } from "react";
import { type ActionName, type ActionOutput, mayDo } from "../../shared/contract/actions/actions.ts";

export type Person = ActionOutput<"me"> & {
  /** Whether the page offers the action: on this account, or on the whole service. The service decides itself. */
  readonly may: (action: ActionName, account?: string) => boolean;
  /** Whether pages about the whole service are shown. */
  readonly seesService: boolean;
};

/** From which amount two people settle an order in this stage, and for how long a proposal waits. */
export type FourEyes = NonNullable<Person["four_eyes"]>;

export const personOf = (me: ActionOutput<"me">): Person => ({
  ...me,
  may: (action, account) => mayDo(me, action, account),
  seesService: me.roles.length > 0,
});

export const PersonContext = createContext<Person | undefined>(undefined);

export const usePerson = (): Person => {
  const person = useContext(PersonContext);
  if (person === undefined) throw new Error("usePerson outside of the signed-in page");
  return person;
};
