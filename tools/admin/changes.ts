import { accountText } from "../../shared/access/account-store.ts";
import { boundRefusal } from "../../shared/actions/wallet.ts";
import type { ActionInput, ActionName } from "../../shared/contract/actions/actions.ts";
import { refundName } from "../../shared/contract/corrections.ts";
import { koboFromNaira, moneyText, nairaFromKobo } from "../../shared/contract/values/money.ts";
import { OperatorError } from "../../shared/platform/operator-error.ts";
import type { AdminContext } from "./context.ts";
import { perform } from "./perform.ts";
import { localTime, nairaText, table } from "./views/print.ts";

/** What a command would change. Numbers are NGN. */
export type Change = { readonly what: string; readonly before: string | number; readonly after: string | number };

/** What a person is shown before the decision. `decided`: the input that is about what was shown, and nothing newer. */
export type Shown<Input> = { readonly changes: readonly Change[]; readonly decided?: Input };

type ChangesOf<Name extends ActionName> = (
  context: AdminContext,
  input: ActionInput<Name>,
) => Promise<Shown<ActionInput<Name>>>;

type Entry = Pick<ActionInput<"wallet fund">, "account" | "amount_kobo" | "id">;

/** A refusal before the service is asked, which may have recorded the entry: of one that it has it says so. */
const unlessRecorded = (refusal: string): OperatorError =>
  new OperatorError(refusal, { command: "If its answer was lost, repeat it with --yes" });

const balanceChange = async (context: AdminContext, { account, amount_kobo, id }: Entry): Promise<Shown<never>> => {
  const aboveBound = boundRefusal(context, amount_kobo, id);
  if (aboveBound !== undefined) throw unlessRecorded(aboveBound.message);
  const { balance } = await perform(context, "wallet show", { account });
  const afterKobo = koboFromNaira(balance) + amount_kobo;
  if (afterKobo < 0) {
    throw unlessRecorded(`The balance is ${moneyText(balance)} and must not become negative`);
  }
  const what = `balance of ${account}, unless it was recorded before`;
  return { changes: [{ what, before: balance, after: nairaFromKobo(afterKobo) }] };
};

/**
 * An order may be sent while the question waits for its answer: what is decided is about the sending that was shown. Of one that
 * is not open the service says who settled it, and a settlement whose answer was lost can be repeated.
 */
const settlementShown = async (context: AdminContext, reference: string, status: string) => {
  const found = await perform(context, "transactions show", { reference });
  const { account_id: account, sending } = found;
  const what = `status of ${found.reference}`;
  if (found.status !== "processing") return { changes: [{ what, before: found.status, after: found.status }], sending };
  const state = sending === "waits" ? "waits to be sent" : `sent at ${localTime(sending, context.timeZone)}`;
  const settled = { what, before: `${found.status}, ${state}`, after: status };
  if (status !== "failed" || found.mode === "test") return { changes: [settled], sending };
  const { balance } = await perform(context, "wallet show", { account });
  const after = nairaFromKobo(koboFromNaira(balance) + koboFromNaira(found.amount));
  return { changes: [settled, { what: `balance of ${account}`, before: balance, after }], sending };
};

/**
 * What the person would carry out. The service says whether that person may, and of one that is not open how it was decided: an
 * approval whose answer was lost can be repeated.
 */
const proposalShown = async (
  context: AdminContext,
  { proposal: id }: { readonly proposal: string },
): Promise<Shown<never>> => {
  const { proposals } = await perform(context, "proposals list", { state: "open" });
  const found = proposals.find(({ proposal }) => proposal === id);
  if (found === undefined) return { changes: [{ what: id, before: "not open", after: "not open" }] };
  const { consequence, proposed_by, why, state, account_id, balance_before: before, balance_after: after } = found;
  const what = `${consequence}, proposed by ${proposed_by}${why === null ? "" : `: ${why}`}`;
  const decided = { what, before: state, after: "approved" };
  if (before === null || after === null) return { changes: [decided] };
  return { changes: [decided, { what: `balance of ${account_id}`, before, after }] };
};

/** Of the actions whose command has `--dry-run`, read as the service has it now. */
export const actionChanges: { readonly [Name in ActionName]?: ChangesOf<Name> } = {
  "wallet fund": balanceChange,
  "wallet adjust": balanceChange,
  "proposals approve": proposalShown,
  "proposals break-glass": proposalShown,
  "transactions resolve": async (context, input) => {
    const { changes, sending } = await settlementShown(context, input.reference, input.status);
    return { changes, decided: { sending, ...input } };
  },
  "events match": async (context, input) => {
    const { event } = await perform(context, "events candidates", { event: input.event });
    const { changes, sending } = await settlementShown(context, input.reference, event.says);
    return { changes, decided: { sending, ...input } };
  },
  "transactions refund": async (context, { reference }) => {
    const found = await perform(context, "transactions show", { reference });
    const { account_id: account, mode, status, amount } = found;
    if (status !== "success" || mode === "test") throw new OperatorError(`${reference} is ${status}, in mode ${mode}`);
    return balanceChange(context, { account, amount_kobo: koboFromNaira(amount), id: refundName(found.reference) });
  },
  "keys revoke": async (context, { key }) => {
    // By one request: a key that has leaked is revoked in a hurry, and there may be thousands of accounts.
    const { access } = await perform(context, "access review", { key });
    // A stage of an earlier release answers with all keys.
    const found = access.find(({ holder }) => holder === key);
    if (found === undefined) {
      const what = `key ${key}, which no account lists as usable`;
      return { changes: [{ what, before: "unknown", after: "revoked, if the service has it" }] };
    }
    const what = `${found.mode} key ${key} of ${accountText({ account_id: found.account_id, name: found.account })}`;
    return { changes: [{ what, before: "active", after: "revoked" }] };
  },
};

const textOf = (value: Change["before"]): string => (typeof value === "number" ? nairaText(value) : value);

export const changesText = (changes: readonly Change[]): string =>
  table(
    ["what", "now", "then"],
    changes.map(({ what, before, after }) => [what, textOf(before), textOf(after)]),
  );
