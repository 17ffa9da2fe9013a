import { once } from "node:events";
import { createInterface } from "node:readline";
import { assertWithinBound } from "../../shared/actions/wallet.ts";
import type { ActionInput, ActionName } from "../../shared/contract/actions/actions.ts";
import { koboFromNaira, nairaFromKobo } from "../../shared/contract/money.ts";
import { OperatorError } from "../../shared/platform/operator-error.ts";
import type { AdminContext } from "./context.ts";
import { perform } from "./perform.ts";
import { terminal, writeMessage } from "./terminal.ts";
import { nairaText, table } from "./views/print.ts";

/** What a command would change. Numbers are NGN. */
export type Change = { readonly what: string; readonly before: string | number; readonly after: string | number };

type ChangesOf<Name extends ActionName> = (
  context: AdminContext,
  input: ActionInput<Name>,
) => Promise<readonly Change[]>;

type Entry = Pick<ActionInput<"wallet fund">, "account" | "amount_kobo">;

const balanceChange = async (context: AdminContext, { account, amount_kobo }: Entry): Promise<readonly Change[]> => {
  assertWithinBound(context, amount_kobo);
  const { balance } = await perform(context, "wallet show", { account });
  const afterKobo = koboFromNaira(balance) + amount_kobo;
  if (afterKobo < 0) throw new OperatorError(`The balance is ${nairaText(balance)} NGN and must not become negative`);
  return [
    {
      what: `balance of ${account}, unless it was recorded before`,
      before: balance,
      after: nairaFromKobo(afterKobo),
    },
  ];
};

/** Of the actions whose command has `--dry-run`, read as the service has it now. */
export const actionChanges: { readonly [Name in ActionName]?: ChangesOf<Name> } = {
  "wallet fund": balanceChange,
  "wallet adjust": balanceChange,
  "transactions resolve": async (context, { reference, status }) => {
    const found = await perform(context, "transactions show", { reference });
    if (found.status !== "processing") throw new OperatorError(`${reference} is ${found.status} already`);
    const settled = { what: `status of ${found.reference}`, before: found.status, after: status };
    if (status === "success" || found.mode === "test") return [settled];
    const { account_id: account } = found;
    const { balance } = await perform(context, "wallet show", { account });
    const after = nairaFromKobo(koboFromNaira(balance) + koboFromNaira(found.amount));
    return [settled, { what: `balance of ${account}`, before: balance, after }];
  },
  "transactions refund": async (context, { reference }) => {
    const { account_id: account, mode, status, amount } = await perform(context, "transactions show", { reference });
    if (status !== "success" || mode === "test") throw new OperatorError(`${reference} is ${status}, in mode ${mode}`);
    return balanceChange(context, { account, amount_kobo: koboFromNaira(amount) });
  },
  "keys revoke": async (context, { key }) => {
    const { accounts } = await perform(context, "accounts list", {});
    for (const { account_id, name } of accounts) {
      const { keys } = await perform(context, "keys list", { account: account_id });
      const found = keys.find(({ key_id }) => key_id === key);
      if (found !== undefined)
        return [
          { what: `${found.mode} key ${key} of ${account_id} (${name})`, before: found.status, after: "revoked" },
        ];
    }
    return [{ what: `key ${key}, which no account lists`, before: "unknown", after: "revoked, if the service has it" }];
  },
};

const textOf = (value: Change["before"]): string => (typeof value === "number" ? nairaText(value) : value);

export const changesText = (changes: readonly Change[]): string =>
  table(
    ["what", "now", "then"],
    changes.map(({ what, before, after }) => [what, textOf(before), textOf(after)]),
  );

/** Asks the person at the terminal, and refuses unless the answer is yes. */
export const confirm = async (command: string, stage: string, changes: readonly Change[]): Promise<void> => {
  const { stdin } = terminal();
  if (!stdin.isTTY) {
    throw new OperatorError(
      `${command} asks before it acts on a deployed stage, and there is no terminal: add --yes, or --json in a script`,
    );
  }
  const shown = changes.length === 0 ? "" : `${changesText(changes)}\n`;
  writeMessage(`${command} on the stage ${stage}\n${shown}Continue? [y/N] `);
  const lines = createInterface({ input: stdin });
  const [answer] = await Promise.race([once(lines, "line"), once(lines, "close")]);
  lines.close();
  if (!/^y(es)?$/i.test(String(answer).trim())) throw new OperatorError("Nothing was changed: the answer was not yes");
};
