import type { Account } from "../access/account-store.ts";
import { pkOfOwner } from "../access/owner-item.ts";
import { recordSignIn } from "../access/person-item.ts";
import type { personActions } from "../contract/actions/person.ts";
import { LOCAL_STAGE } from "../platform/log.ts";
import { type ConsoleRequest, requireRequest } from "./action-context.ts";
import type { ActionRuns } from "./action-runs.ts";

/** The colour of a stage whose settings name none. */
const coloursByKind = { live: "red", test: "green", local: "violet" } as const;

export const stageView = (sells: boolean, { name, colour }: ConsoleRequest["stage"]) => {
  const kind = name === LOCAL_STAGE ? "local" : sells ? "live" : "test";
  return { name, kind, colour: colour ?? coloursByKind[kind] } as const;
};

/** The items by which the person owns these accounts. */
const ownerKeysOf = ({ owner: { email, groups } }: ConsoleRequest, owned: readonly Account[]): readonly string[] => {
  const owners = new Set(owned.flatMap((account) => account.owners.map(pkOfOwner)));
  const own = [
    ...(email === undefined ? [] : [{ kind: "email" as const, value: email }]),
    ...groups.map((value) => ({ kind: "group" as const, value })),
  ];
  return own.map(pkOfOwner).filter((key) => owners.has(key));
};

export const personRuns: ActionRuns<typeof personActions> = {
  me: async (context) => {
    const { facts, fourEyes, ledger, timeZone } = context;
    const request = requireRequest(context);
    const owned = await request.ownedAccounts();
    // A request with AWS credentials is no sign-in, and may give any name.
    if (request.actor.person !== undefined) {
      const { email } = request.owner;
      await recordSignIn(ledger, { ...request, email, ownerKeys: ownerKeysOf(request, owned) });
    }
    return {
      by: request.by,
      roles: [...request.roles],
      owns: owned.map(({ account_id, name }) => ({ account_id, name })),
      stage: stageView(facts.sells, request.stage),
      four_eyes:
        fourEyes === undefined || request.roles.length === 0
          ? null
          : { resolve_above: fourEyes.resolveAboveNaira, hours: fourEyes.hours },
      time_zone: timeZone,
    };
  },
};
