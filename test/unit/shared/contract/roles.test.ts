import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Action } from "../../../../shared/contract/actions/action.ts";
import { actionNames, actions } from "../../../../shared/contract/actions/actions.ts";
import { type Role, roles } from "../../../../shared/contract/roles.ts";

/** Goal: the roles of single actions keep to what each role is for. The table of answers cannot show that. */
const entries: readonly (Action & { readonly name: string })[] = actionNames.map((name) => ({
  name,
  ...actions[name],
}));
const namesOf = (role: Role, of: (action: Action & { readonly name: string }) => boolean): readonly string[] =>
  entries.filter((action) => action.roles.includes(role) && of(action)).map(({ name }) => name);
/** Everyone chooses what they themselves are notified of. */
const isChange = ({ kind, name }: Action & { readonly name: string }): boolean =>
  kind === "change" && name !== "notifications choose";

test("every role may do something that not every role may", () => {
  const ofSome = (action: Action): boolean => roles.some((role) => !action.roles.includes(role));
  expect(roles.filter((role) => namesOf(role, ofSome).length === 0)).toEqual([]);
});

test("an operator may do every action", () => {
  expect(namesOf("operator", () => true)).toEqual(actionNames);
});

test("auditors and readers change nothing, and readers read what auditors do, but for exports", () => {
  expect([...namesOf("auditor", isChange), ...namesOf("reader", isChange)]).toEqual([]);
  expect(namesOf("reader", () => true)).toEqual(namesOf("auditor", ({ audited }) => !audited));
});

test("support adds notes, and changes nothing else", () => {
  expect(namesOf("support", isChange)).toEqual(["transactions note"]);
});

test("finance changes what is of the books, and does nothing with keys", () => {
  const ofBooks = /^(wallet (fund|reverse)|float fund|periods close|proposals (approve|reject)|reconciliation .*)$/;
  expect(namesOf("finance", isChange).filter((name) => !ofBooks.test(name))).toEqual([]);
  expect(namesOf("finance", ({ name }) => /^(keys|ips|secrets)/.test(name))).toEqual([]);
});

test("every action that moves money, settles an order, or sets an account's limits or prices is one of two people", () => {
  const alone = entries.filter(
    ({ movesMoney, name }) => movesMoney || ["events match", "accounts limits", "prices set"].includes(name),
  );
  expect(alone.filter(({ fourEyes }) => !fourEyes)).toEqual([]);
});

test("docs/console.md says of each role what it sees and changes", () => {
  const [, section = ""] = readFileSync("docs/console.md", "utf8").split("\n## Who may do what\n");
  expect(roles.filter((role) => !section.includes(`\n| ${role} |`))).toEqual([]);
});
