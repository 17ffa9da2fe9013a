import type * as z from "#zod";
import { type Account, accountText, assertNotClosed, requireAccount } from "../access/account-store.ts";
import { ENTITLEMENTS_CHANGED, isRepetition, LIMITS_CHANGED } from "../access/accounts.ts";
import { type ActionInput, type ActionName, actions } from "../contract/actions/actions.ts";
import { refundName, reversalName } from "../contract/corrections.ts";
import { type OrderLimitName, type OrderLimits, orderLimitName, raisesLimits } from "../contract/order-limits.ts";
import {
  type Entitlement,
  type Entitlements,
  entitlementSchema,
  isEntitled,
  raisesEntitlements,
} from "../contract/permission.ts";
import { isSettledByTwo } from "../contract/settled-by-two.ts";
import { koboMoneyText, nairaFromKobo } from "../contract/values/money.ts";
import { type LedgerEntry, readAdjustment, readFunding } from "../ledger/ledger-entry.ts";
import { referenceOf, sendingOf, type Transaction } from "../ledger/transaction.ts";
import { closedError, readWallet } from "../ledger/wallet.ts";
import { readPayment } from "../margin/float.ts";
import { OperatorError } from "../platform/operator-error.ts";
import { assertResolvable, type Difference, requireMatch } from "../upstream-events/operator-resolution.ts";
import { accountsRuns } from "./accounts.ts";
import type { ActionContext } from "./action-context.ts";
import { bookedError, floatRuns } from "./float.ts";
import { priceConsequence, pricesRuns, removalPreview } from "./prices.ts";
import { requireEvent, requireTransaction } from "./require-transaction.ts";
import { isSettledSo } from "./resolved-transaction.ts";
import { refundRefusal, transactionsRuns } from "./transactions.ts";
import { upstreamEventsRuns } from "./upstream-events.ts";
import { assertTakesAsNamed, assertUnusedId, boundRefusal, requireFunding, walletRuns } from "./wallet.ts";

/** What an action would do now. Throws OperatorError if it would be refused. */
export type Preview = {
  readonly account?: string;
  /** A sentence. */
  readonly consequence: string;
  readonly amountKobo?: number;
  readonly balance?: { readonly before: number; readonly after: number } | undefined;
  /** What is proposed if it is not the input: an approval is refused if what the proposer saw has changed. */
  readonly input?: object;
  /** It was done before: doing it changes nothing. */
  readonly isDone?: boolean;
  /** False: one person may do it alone. */
  readonly needsApproval: boolean;
};

/** Of a repetition, which is answered as the first was. */
const DONE: Preview = { consequence: "Changes nothing", isDone: true, needsApproval: false };

type Proposable = {
  readonly preview: (context: ActionContext, input: unknown) => Promise<Preview>;
  readonly carryOut: (context: ActionContext, input: unknown) => Promise<unknown>;
};

/** The actions whose entry says `fourEyes`. */
type ProposableName = {
  [Name in ActionName]: (typeof actions)[Name] extends { readonly fourEyes: true } ? Name : never;
}[ActionName];

const requireNotClosed = async ({ accounts }: ActionContext, accountId: string): Promise<Account> => {
  const account = await requireAccount(accounts, accountId);
  assertNotClosed(account);
  return account;
};

/** A ledger entry. `booked`: the one that has its id already. */
const entry = async (
  context: ActionContext,
  { account, amountKobo, id }: { readonly account: string; readonly amountKobo: number; readonly id: string },
  booked: LedgerEntry | undefined,
  what: (ofAccount: string, amount: string) => string,
): Promise<Preview> => {
  const ofAccount = accountText(await requireAccount(context.accounts, account));
  await assertUnusedId(context.ledger, booked, account);
  const refusal = boundRefusal(context, amountKobo, id);
  if (refusal !== undefined) throw refusal;
  const { balance_kobo: before, closed } = await readWallet(context.ledger, account);
  if (closed) throw closedError(account);
  const after = before + amountKobo;
  if (after < 0)
    throw new OperatorError(`The balance is ${koboMoneyText(before)} and must not become negative`, {
      field: "amount_kobo",
    });
  const consequence = what(ofAccount, koboMoneyText(Math.abs(amountKobo)));
  return { account, consequence, amountKobo, balance: { before, after }, needsApproval: true };
};

const settlement = async (
  context: ActionContext,
  transaction: Transaction,
  status: string,
  input: object,
  reported = "",
): Promise<Preview> => {
  const { account_id: account, amount_kobo, mode } = transaction;
  const ofAccount = accountText(await requireAccount(context.accounts, account));
  const isRefund = status === "failed" && mode === "live";
  const { balance_kobo: before, closed } = await readWallet(context.ledger, account);
  if (closed && isRefund) throw closedError(account);
  const amount = koboMoneyText(amount_kobo);
  const effect = isRefund ? ` and refunds ${amount}` : `, which keeps the ${amount} that it cost`;
  return {
    account,
    input,
    consequence: `Settles ${referenceOf(transaction)} of ${ofAccount} as ${status} for good${effect}${reported}`,
    amountKobo: amount_kobo,
    balance: { before, after: isRefund ? before + amount_kobo : before },
    needsApproval: isSettledByTwo(
      { mode, naira: nairaFromKobo(amount_kobo) },
      context.fourEyes?.resolveAboveNaira ?? 0,
    ),
  };
};

/** Without the digits of phone numbers, because proposals and audit entries are kept. */
const differencesText = (differences: readonly Difference[]): string =>
  differences
    .map(({ field, event, transaction }) =>
      field === "phone number" ? field : `${field} (${event} reported, ${transaction} expected)`,
    )
    .join(" and ");

/** What changes and nothing else, with commas between thousands: a person must see one zero more. */
const changesText = <Name extends string>(
  names: readonly Name[],
  before: (name: Name) => string,
  after: (name: Name) => string,
): string =>
  names
    .filter((name) => before(name) !== after(name))
    .map((name) => `${name} from ${before(name)} to ${after(name)}`)
    .join(", ");

const limitText =
  (limits: OrderLimits) =>
  (name: OrderLimitName): string =>
    limits[name]?.toLocaleString("en") ?? "no limit";

const quotaText =
  (entitlements: Entitlements) =>
  (name: Entitlement): string => {
    if (!isEntitled(entitlements, name)) return "nothing";
    const perDay = entitlements[name];
    return typeof perDay === "number" ? `${perDay.toLocaleString("en")} a day` : "any number";
  };

const previews: {
  readonly [Name in ProposableName]: (context: ActionContext, input: ActionInput<Name>) => Promise<Preview>;
} = {
  "wallet fund": async (context, { account, amount_kobo, id }) =>
    entry(
      context,
      { account, amountKobo: amount_kobo, id },
      await readFunding(context.ledger, id),
      (ofAccount, amount) => `Credits ${amount} to ${ofAccount} for the transfer ${id}`,
    ),
  "wallet adjust": async (context, { account, amount_kobo, id }) => {
    await assertTakesAsNamed(context, { account, amount_kobo, id });
    return entry(
      context,
      { account, amountKobo: amount_kobo, id },
      await readAdjustment(context.ledger, account, id),
      (ofAccount, amount) =>
        amount_kobo < 0 ? `Takes ${amount} from ${ofAccount} (${id})` : `Gives ${amount} to ${ofAccount} (${id})`,
    );
  },
  "wallet reverse": async (context, { account, id }) => {
    const funding = await requireFunding(context, account, id);
    const name = reversalName(funding.entry_id);
    return entry(
      context,
      { account, amountKobo: -funding.amount_kobo, id: name },
      await readAdjustment(context.ledger, account, name),
      (ofAccount, amount) => `Takes the funding ${id} of ${amount} back from ${ofAccount}`,
    );
  },
  "float fund": async (context, { amount_kobo, id }) => {
    const booked = await readPayment(context.ledger, id);
    if (booked !== undefined) throw bookedError(booked);
    return {
      consequence:
        amount_kobo < 0
          ? `Takes ${koboMoneyText(-amount_kobo)} from the payments to the upstream (${id})`
          : `Books a payment of ${koboMoneyText(amount_kobo)} to the upstream (${id})`,
      amountKobo: amount_kobo,
      needsApproval: true,
    };
  },
  "transactions refund": async (context, { reference }) => {
    const transaction = await requireTransaction(context, reference);
    const ours = referenceOf(transaction);
    const refusal = refundRefusal(transaction);
    if (refusal !== undefined) throw refusal;
    const { account_id: account, amount_kobo: amountKobo } = transaction;
    const name = refundName(ours);
    return entry(
      context,
      { account, amountKobo, id: name },
      await readAdjustment(context.ledger, account, name),
      (ofAccount, amount) => `Gives ${amount} for ${ours} back to ${ofAccount}`,
    );
  },
  "transactions resolve": async (context, { sending: seen, ...input }) => {
    const transaction = await requireTransaction(context, input.reference);
    const { status } = input;
    if (await isSettledSo(context, transaction, { status })) return DONE;
    assertResolvable(context.ledger, transaction, status, seen);
    return settlement(context, transaction, status, { ...input, sending: sendingOf(transaction) });
  },
  "events match": async (context, { sending: seen, ...input }) => {
    const { event: id, reference, accepts_differences: acceptsDifferences } = input;
    const [stored, transaction] = await Promise.all([
      requireEvent(context, id),
      requireTransaction(context, reference),
    ]);
    if (await isSettledSo(context, transaction, { event: id })) return DONE;
    const { event, differences } = requireMatch(context, stored, transaction, { acceptsDifferences, seen });
    const differs = differences.length === 0 ? "" : `, although they differ in ${differencesText(differences)}`;
    const proposed = { ...input, sending: sendingOf(transaction) };
    return settlement(context, transaction, event.says, proposed, `, as ${id} reports${differs}`);
  },
  "accounts limits": async (context, { before, ...input }) => {
    const { account, limits } = input;
    const limited = await requireNotClosed(context, account);
    const { order_limits: stored = {} } = limited;
    return {
      account,
      isDone: isRepetition(stored, limits, before, LIMITS_CHANGED),
      input: { ...input, before: stored },
      consequence: `Changes the limits of ${accountText(limited)}: ${changesText(orderLimitName.options, limitText(stored), limitText(limits))}`,
      needsApproval: raisesLimits(stored, limits),
    };
  },
  "accounts entitle": async (context, { before, ...input }) => {
    const { account, entitlements } = input;
    const entitled = await requireNotClosed(context, account);
    const { entitlements: stored } = entitled;
    return {
      account,
      isDone: isRepetition(stored, entitlements, before, ENTITLEMENTS_CHANGED),
      input: { ...input, before: stored },
      consequence: `Changes what ${accountText(entitled)} may order: ${changesText(entitlementSchema.options, quotaText(stored), quotaText(entitlements))}`,
      needsApproval: raisesEntitlements(stored, entitlements),
    };
  },
  "prices set": async (context, input) => {
    const { account_id: account } = await requireNotClosed(context, input.account);
    const consequence = await priceConsequence(context, input);
    return { account, consequence, needsApproval: input.below_cost === true };
  },
  "prices remove": async (context, input) => {
    await requireNotClosed(context, input.account);
    return removalPreview(context, input);
  },
};

const inputs: { readonly [Name in ProposableName]: { readonly input: z.ZodMiniType<ActionInput<Name>> } } = actions;

const runs: {
  readonly [Name in ProposableName]: (context: ActionContext, input: ActionInput<Name>) => Promise<unknown>;
} = { ...walletRuns, ...floatRuns, ...transactionsRuns, ...upstreamEventsRuns, ...accountsRuns, ...pricesRuns };

const proposable = <Name extends ProposableName>(name: Name): Proposable => {
  const inputOf = (value: unknown): ActionInput<Name> => {
    const { data, error } = inputs[name].input.safeParse(value);
    if (data !== undefined) return data;
    throw new OperatorError("This version cannot read what was proposed: propose it again", { cause: error });
  };
  return {
    preview: async (context, value) => previews[name](context, inputOf(value)),
    carryOut: async (context, value) => runs[name](context, inputOf(value)),
  };
};

const isProposable = (action: string): action is ProposableName => Object.hasOwn(previews, action);

export const proposableOf = (action: string): Proposable | undefined =>
  isProposable(action) ? proposable(action) : undefined;
