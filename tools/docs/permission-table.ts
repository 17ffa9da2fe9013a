import { type Action, type ActionTable, needsReason } from "../../shared/contract/actions/action.ts";
import { type ActionName, actionNames, actions } from "../../shared/contract/actions/actions.ts";
import { roles } from "../../shared/contract/roles.ts";
import { markdownTable, wrap } from "../markdown/markdown.ts";

/** Who asks; an owner about the own account, or about another owner's account. */
export const askers = [...roles, "owner", "other owner", "no role", "no token"] as const;
export type Asker = (typeof askers)[number];

/** The status of an answer, where the state of the service allows the action. */
export const permissionStatus = (
  { scope, roles: allowed }: Pick<Action, "scope" | "roles">,
  asker: Asker,
): 200 | 401 | 403 | 404 => {
  if (asker === "no token") return 401;
  const role = roles.find((each) => each === asker);
  if (scope === "person") return 200;
  if (role !== undefined) return allowed.includes(role) ? 200 : 403;
  if (scope === "member") return asker === "no role" ? 403 : 200;
  if (scope === "service" || asker === "no role") return 403;
  return asker === "owner" ? 200 : 404;
};

/** Who may do which actions of the console: a row for all that the same people may do. */
export const permissionTable = (): string => {
  const groups = Map.groupBy(actionNames, (name: ActionName) => {
    const { scope, kind }: Action = actions[name];
    return [`${scope}, ${kind}`, ...askers.map((asker) => permissionStatus(actions[name], asker))].join("|");
  });
  const rows = [...groups].map(([group, names]) => {
    const [scope = "", ...statuses] = group.split("|");
    return [scope, names.map((name) => `\`${name}\``).join(", "), ...statuses];
  });
  const order = ["person", "member", "account, read", "account, change", "service, read", "service, change"];
  const placeOf = ([scope = ""]: readonly string[]): number => order.findIndex((start) => scope.startsWith(start));
  return markdownTable([
    ["scope", "actions", ...askers],
    ...rows.toSorted((one, other) => placeOf(one) - placeOf(other)),
  ]);
};

/** The reads that leave an audit entry. */
export const personalList = (): string => {
  const table: ActionTable = actions;
  const personal = actionNames.filter((name) => table[name]?.personal || table[name]?.audited);
  return wrap(`${personal.map((name) => `\`${name}\``).join(", ")}.`);
};

/** The actions that the console does with a reason only. */
export const reasonList = (): string => {
  const needing = actionNames.filter((name) => needsReason(actions[name]));
  return wrap(`${needing.map((name) => `\`${name}\``).join(", ")}.`);
};
