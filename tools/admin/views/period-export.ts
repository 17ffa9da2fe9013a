import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { adjusts } from "../../../shared/contract/corrections.ts";
import { periodCsvCells, periodCsvColumns } from "../../../shared/contract/reports/statement-csv.ts";
import { CSV_LINE_END, csvRow } from "../../../shared/contract/values/csv.ts";
import { koboFromNaira, nairaDecimals, nairaFromKobo } from "../../../shared/contract/values/money.ts";
import { timeIn } from "../../../shared/contract/values/time-zone.ts";

type Period = ActionOutput<"periods show">;
type Line = ActionOutput<"periods lines">["lines"][number];
type CostChange = ActionOutput<"periods lines">["cost_changes"][number];
/** An account of a closed period, whose lines are read when they are asked for. */
export type ExportedAccount = {
  readonly sums: ActionOutput<"periods accounts">["accounts"][number];
  readonly pages: AsyncIterable<ActionOutput<"periods lines">>;
};

type Accounts = AsyncIterable<ExportedAccount>;

async function* csv(_period: Period, accounts: Accounts): AsyncGenerator<string> {
  yield csvRow(periodCsvColumns);
  for await (const { sums, pages } of accounts) {
    for await (const { lines, cost_changes } of pages) {
      const rows = [...lines, ...cost_changes].map((line) => csvRow(periodCsvCells(sums.account_id, line)));
      yield rows.map((row) => `${CSV_LINE_END}${row}`).join("");
    }
  }
}

/** The first line is the period; the sums of each account follow its lines. */
async function* jsonLines(period: Period, accounts: Accounts): AsyncGenerator<string> {
  yield JSON.stringify({ type: "period", ...period });
  for await (const { sums, pages } of accounts) {
    const { account_id } = sums;
    for await (const { lines, cost_changes } of pages) {
      const records = [
        ...lines.map((line) => ({ type: "line", account_id, ...line })),
        ...cost_changes.map((change) => ({ type: "cost_change", account_id, ...change })),
      ];
      yield records.map((record) => `\n${JSON.stringify(record)}`).join("");
    }
    yield `\n${JSON.stringify({ type: "account", ...sums })}`;
  }
}

type Posting = readonly [account: string, kobo: number];

/** The accounts of the journal, in the order of its declarations. */
export const journalAccounts = {
  bank: "assets:bank",
  float: "assets:upstream float",
  wallets: "liabilities:wallets",
  opening: "equity:opening balances",
  adjustments: "equity:adjustments",
  margin: "income:margin",
  recovered: "income:cost of orders",
  unknownCost: "income:unknown cost",
  refunds: "income:refunds",
  cost: "expenses:cost",
} as const;

/** By what an adjustment changes. An order that an operator refunds was delivered by the upstream's word: it keeps its cost. */
const adjustedAccounts = {
  bank: journalAccounts.bank,
  refunds: journalAccounts.refunds,
  none: journalAccounts.adjustments,
} as const;

const walletOf = (accountId: string): string => `${journalAccounts.wallets}:${accountId}`;

/**
 * What a line does, in double entry. A wallet is what the company owes its owner, so it grows with a negative amount. An
 * order of known cost takes it from the float, and earns its cost and the margin; one of unknown cost earns its price. A
 * refund gives the cost back. An adjustment is posted by its name.
 */
const postingsOf = (accountId: string, { kind, id, effect, cost }: Line): readonly Posting[] => {
  const kobo = signedKobo(effect);
  const wallet: Posting = [walletOf(accountId), -kobo];
  if (kind === "funding") return [[journalAccounts.bank, kobo], wallet];
  if (kind === "adjustment") return [[adjustedAccounts[adjusts(id)], kobo], wallet];
  const costKobo = signedKobo(cost ?? 0);
  const spent: readonly Posting[] =
    cost === null
      ? []
      : [
          [journalAccounts.cost, costKobo],
          [journalAccounts.float, -costKobo],
        ];
  if (kind === "refund") return [[journalAccounts.refunds, kobo], wallet, ...spent];
  if (cost === null) return [[journalAccounts.unknownCost, kobo], wallet];
  return [[journalAccounts.recovered, -costKobo], [journalAccounts.margin, kobo + costKobo], wallet, ...spent];
};

/** A wallet is left as it is. What was earned by unknown cost is cost and margin from now on. */
const changePostingsOf = ({ cost, unknown_price }: CostChange): readonly Posting[] => {
  const [kobo, unknownKobo] = [signedKobo(cost), signedKobo(unknown_price)];
  return [
    [journalAccounts.unknownCost, unknownKobo],
    [journalAccounts.recovered, -kobo],
    [journalAccounts.margin, kobo - unknownKobo],
    [journalAccounts.cost, kobo],
    [journalAccounts.float, -kobo],
  ];
};

const signedKobo = (naira: number): number => (naira < 0 ? -koboFromNaira(-naira) : koboFromNaira(naira));

const amountOf = (kobo: number): string => `NGN ${nairaDecimals(nairaFromKobo(kobo))}`;

/** Free text may hold what a journal gives a meaning: a comment, a tag, a line end. */
const plain = (text: string): string => text.replaceAll(/[;|\p{Cc}\p{Cf}]+/gu, " ").trim();

const entryOf = (date: string, description: string, postings: readonly string[]): string =>
  `\n${date} ${plain(description)}\n${postings.map((posting) => `    ${posting}`).join("\n")}\n`;

const postingText = ([account, kobo]: Posting): string => `${account}  ${amountOf(kobo)}`;

/** Changes nothing, and fails unless the wallet has this balance. */
const asserted = (wallet: string, kobo: number): string => `${wallet}  ${amountOf(0)} = ${amountOf(-kobo)}`;

const dateOf = (period: Period, at: string): string =>
  timeIn(Date.parse(at), period.time_zone).slice(0, "2026-11-21".length);

/**
 * hledger checks at its end that each wallet has the balance with which the period was closed. Only an account's first
 * period posts its opening: in a later one it is already in the books, so it is checked.
 */
async function* journal(period: Period, accounts: Accounts): AsyncGenerator<string> {
  yield [
    `; ${period.month} in ${period.time_zone}, hash ${period.hash}`,
    "commodity NGN 1000.00",
    ...Object.values(journalAccounts).map((account) => `account ${account}`),
    "",
  ].join("\n");
  for await (const { sums, pages } of accounts) {
    const wallet = walletOf(sums.account_id);
    const opening = signedKobo(sums.opening);
    yield `\naccount ${wallet}\n`;
    const posted = [postingText([wallet, -opening]), postingText([journalAccounts.opening, opening])];
    yield entryOf(
      dateOf(period, period.from),
      `opening balance ${sums.account_id}`,
      sums.previous === "" ? posted : [asserted(wallet, opening)],
    );
    const entryOfLine = (line: Line | CostChange): string =>
      entryOf(
        dateOf(period, line.at),
        `(${line.id.replaceAll(/[()]/g, " ")}) ${line.kind} ${line.description}`,
        (line.kind === "cost_change" ? changePostingsOf(line) : postingsOf(sums.account_id, line)).map(postingText),
      );
    for await (const { lines, cost_changes } of pages) yield [...lines, ...cost_changes].map(entryOfLine).join("");
    yield entryOf(dateOf(period, period.to), `closing balance ${sums.account_id}`, [
      asserted(wallet, signedKobo(sums.closing)),
    ]);
  }
}

export const exportFormats = { csv, jsonl: jsonLines, journal };
