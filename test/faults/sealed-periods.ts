import { isDeepStrictEqual } from "node:util";
import { ALL_TIMES } from "../../shared/ledger/query-index.ts";
import { readWallet } from "../../shared/ledger/wallet.ts";
import { compareWithWallet, isAgreed } from "../../shared/periods/compare-with-wallet.ts";
import { emptyFold, type Fold, foldNext, type PeriodOf } from "../../shared/periods/fold-lines.ts";
import { isoTime } from "../../shared/platform/time.ts";
import { readStatement } from "../builders/ledger/statement.ts";
import type { TestAccount } from "./test-account.ts";

/** A period as it was when its end was sealed: sums, hash and statement. */
export type SealedPeriod = { readonly period: PeriodOf; readonly sealed: PeriodContent };
type PeriodContent = { readonly fold: Fold; readonly statement: Awaited<ReturnType<typeof readStatement>> };

const contentOf = async ({ system }: TestAccount, period: PeriodOf): Promise<PeriodContent> => {
  let step = await foldNext(system.ledger, period, emptyFold);
  while (!step.isComplete) step = await foldNext(system.ledger, period, step.fold);
  return { fold: step.fold, statement: await readStatement(system.ledger, period.account_id, period) };
};

/** Seals the wallet until a moment, and remembers the period since the seal before. */
export const sealUntil = async (
  account: TestAccount,
  toMs: number,
  seal: (to: string) => Promise<void>,
): Promise<void> => {
  const { system, accountId, sealed } = account;
  const last = sealed.at(-1);
  const from = last === undefined ? isoTime(0) : isoTime(Date.parse(last.period.to) + 1);
  const to = isoTime(toMs);
  if (to <= from) return;
  await seal(to);
  if ((await readWallet(system.ledger, accountId)).sealed_to !== to)
    throw new Error(`The wallet was not sealed until ${to}`);
  const hash = last?.sealed.fold.hash ?? "";
  const period = { account_id: accountId, month: `${sealed.length}`, time_zone: "UTC", from, to, previous: hash };
  sealed.push({ period, sealed: await contentOf(account, period) });
};

/**
 * Each sealed period is what it was, whatever happened later, has lines of its own time, and opens with the closing
 * balance of the one before.
 */
export const wrongSealedPeriods = async (account: TestAccount): Promise<string[]> => {
  const wrong: string[] = [];
  let closingKobo = 0;
  for (const { period, sealed } of account.sealed) {
    const { fold, statement } = await contentOf(account, period);
    const name = `the period from ${period.from} until ${period.to}`;
    if (!isDeepStrictEqual({ fold, statement }, sealed)) {
      const [was, is] = [sealed.statement.lines.length, statement.lines.length];
      wrong.push(
        `${name} had ${was} lines and ${sealed.fold.balance_kobo} kobo, and has ${is} and ${fold.balance_kobo}`,
      );
    }
    if (fold.opening_kobo !== closingKobo) {
      wrong.push(`${name} opens with ${fold.opening_kobo} kobo, and the one before closes with ${closingKobo}`);
    }
    if (fold.balance_kobo !== statement.closing_kobo) {
      wrong.push(`${name} closes with ${fold.balance_kobo} kobo, and its statement with ${statement.closing_kobo}`);
    }
    const strays = statement.lines.filter(({ at }) => at < period.from || at > period.to);
    if (strays.length > 0) wrong.push(`${name} has ${strays.length} lines of another time`);
    closingKobo = fold.balance_kobo;
  }
  const { ledger } = account.system;
  const start = { after: ALL_TIMES.from, balance_after_kobo: 0, version: 0 };
  const comparison = await compareWithWallet(ledger, account.accountId, start, { remainingMs: () => 0 });
  if (comparison.kind !== "compared" || !isAgreed(comparison))
    wrong.push(`the lines differ from the wallet: ${JSON.stringify(comparison)}`);
  return wrong;
};
