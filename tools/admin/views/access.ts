import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { rolesText } from "../../../shared/contract/roles.ts";
import { type Cell, sections, table, timeCell } from "./print.ts";

type Review = ActionOutput<"access review">;
type Access = Review["access"][number];

/** Who may do what: keys and owners by account, and people. */
export const accessText = ({ access, people }: Review, timeZone: string): string => {
  const timeOf = (at: string | null): Cell => timeCell(at, timeZone);
  const mayText = ({ kind, may }: Access): string =>
    kind === "owner" ? "manages the account" : may.join(", ") || "nothing";
  return `${sections({
    "Keys and owners": table(
      ["account", "kind", "holder", "name", "mode", "may", "restricted", "created", "last used"],
      access.map((each) => [
        ...[each.account, each.kind, each.holder, each.name, each.mode, mayText(each)],
        ...[each.is_restricted ? "yes" : "no", timeOf(each.created_at), timeOf(each.last_used_at)],
      ]),
    ),
    People: table(
      ["name", "may", "owns", "first sign-in", "last sign-in"],
      people.map(({ name, roles, is_owner, accounts, first_signed_in_at, last_signed_in_at }) => [
        ...[name, rolesText(roles, is_owner), accounts.map((each) => each.name).join(", ")],
        ...[timeOf(first_signed_in_at), timeOf(last_signed_in_at)],
      ]),
    ),
  })}\n\n${PEOPLE_NOTE}`;
};

const PEOPLE_NOTE =
  "Roles are those at the last sign-in to the console; the identity provider has all members of its groups. People with AWS credentials are those whose IAM policy allows a role's path.";
