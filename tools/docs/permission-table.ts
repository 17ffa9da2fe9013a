import { type Action, type ActionTable, needsReason } from "../../shared/contract/actions/action.ts";
import { actionNames, actions } from "../../shared/contract/actions/actions.ts";
import { markdownTable, wrap } from "../markdown/markdown.ts";

/**
 * Who asks; an owner about the own account, or about another owner's account. An AWS operator signs with AWS
 * credentials, and IAM decides before whether the request arrives.
 */
export const askers = ["operator", "AWS operator", "reader", "owner", "other owner", "no role", "no token"] as const;
export type Asker = (typeof askers)[number];

/** The status of an answer, where the state of the service allows the action. */
export const permissionStatus = ({ scope, kind }: Pick<Action, "scope" | "kind">, asker: Asker): number => {
  if (asker === "no token") return 401;
  if (scope === "person" || asker === "operator" || asker === "AWS operator") return 200;
  if (scope === "member") return asker === "no role" ? 403 : 200;
  if (asker === "reader") return kind === "read" ? 200 : 403;
  if (scope === "service" || asker === "no role") return 403;
  return asker === "owner" ? 200 : 404;
};

const namesOf = (scope: Action["scope"], kind: Action["kind"]): string => {
  const names = actionNames.filter((name) => actions[name].scope === scope && actions[name].kind === kind);
  return names.map((name) => `\`${name}\``).join(", ");
};

/** Who may do which actions of the console. */
export const permissionTable = (): string => {
  const groups = [
    { scope: "person", kind: "read" },
    { scope: "member", kind: "read" },
    { scope: "account", kind: "read" },
    { scope: "account", kind: "change" },
    { scope: "service", kind: "read" },
    { scope: "service", kind: "change" },
  ] as const;
  return markdownTable([
    ["scope", "actions", ...askers],
    ...groups.map((group) => [
      `${group.scope}, ${group.kind}`,
      namesOf(group.scope, group.kind),
      ...askers.map((asker) => String(permissionStatus(group, asker))),
    ]),
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
