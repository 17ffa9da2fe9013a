import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AccountStore, findAccount } from "../../shared/access/account-store.ts";
import { changePriceRules, createAccount, setOwners } from "../../shared/access/accounts.ts";
import { ALL_ENTITLEMENTS } from "../../shared/contract/permission.ts";
import { HOUR_MS } from "../../shared/contract/values/durations.ts";
import { koboFromNaira, nairaDecimals, nairaFromKobo } from "../../shared/contract/values/money.ts";
import { dateIn, dayStartMs, monthAfter } from "../../shared/contract/values/time-zone.ts";
import { type AuditPut, auditEntry, auditPut, SERVICE } from "../../shared/ledger/audit.ts";
import type { AuditedLedger } from "../../shared/ledger/ledger.ts";
import { adjustWallet, fundWallet } from "../../shared/ledger/ledger-entry.ts";
import { openTransaction } from "../../shared/ledger/open-transaction.ts";
import { openList, transactionList, transactionPk } from "../../shared/ledger/schema.ts";
import { NOT_DELIVERED, settleTransaction } from "../../shared/ledger/settle-transaction.ts";
import { referenceOf, type Transaction } from "../../shared/ledger/transaction.ts";
import { expectedCost, type UpstreamCosts } from "../../shared/ledger/upstream-costs.ts";
import { recordPayment } from "../../shared/margin/float.ts";
import { beginClosing, closeService, continueClosing } from "../../shared/periods/close-period.ts";
import { type MonthSettings, monthToClose, nextToClose } from "../../shared/periods/month-to-close.ts";
import { deadlineIn } from "../../shared/platform/deadline.ts";
import type { KeyedHashes } from "../../shared/platform/keyed-hashes.ts";
import { isoTime } from "../../shared/platform/time.ts";
import { type PriceRule, priceAt } from "../../shared/prices/price-rule.ts";
import { documentedColumns } from "../statement-import/columns.ts";
import { directImporter } from "../statement-import/direct-importer.ts";
import { importStatement } from "../statement-import/import-statement.ts";
import { OWNER_EMAIL } from "./identity-provider.ts";

/** What the sample books are written with. */
type SampleContext = MonthSettings & {
  readonly accounts: AccountStore;
  readonly ledger: AuditedLedger;
  readonly costs: UpstreamCosts;
  readonly keyedHashes: () => Promise<KeyedHashes>;
};

const NAME = "sample";
const BY = { by: "sample data" };
/** More than any write here takes. */
const WRITE_MS = 20_000;

const RULE: Omit<PriceRule, "from"> = {
  id: "pr_sample",
  kind: "airtime",
  change: { by: "percent", percent: -1 },
  discount_percent_max: 3,
};

/** What is ordered in turn. */
const GOODS = [
  { type: "data", network: "MTN", naira: 500, what: "1GB data" },
  { type: "airtime", network: "MTN", naira: 200, what: "airtime of NGN 200.00" },
  { type: "data", network: "Airtel", naira: 1_490, what: "2GB data" },
  { type: "airtime", network: "Glo", naira: 1_000, what: "airtime of NGN 1,000.00" },
  { type: "data", network: "9mobile", naira: 590.05, what: "650MB data" },
] as const;

/** Each eleventh order fails, and is refunded. */
const fails = (index: number): boolean => index % 11 === 7;

/**
 * Made-up books that the Finance pages show: an account with two months of lines and some of this one, of which the first
 * month is closed; prices, payments to the upstream, and its statement of a day with three differences. All is written by the
 * functions that write real books, dated by the clock that they are given. Nothing is written where `known` still exists.
 * Resolves with the account's id, which `onCreated` gets before the books are written: begun ones cannot be written a second
 * time, because a month is closed once.
 */
export const makeSampleBooks = async (
  context: SampleContext,
  known: string | undefined,
  onCreated: (accountId: string) => void,
): Promise<string> => {
  if (known !== undefined && (await findAccount(context.accounts, known)) !== undefined) return known;
  const { timeZone, accounts } = context;
  const nowMs = context.ledger.clock();
  const today = dateIn(nowMs, timeZone);
  const todayMs = dayStartMs(today, timeZone);
  const { thisMonth, closedMonth: first, lastMonth: second, statedDay } = sampleDates(nowMs, context);
  const at = (month: string, day: number, hour: number): number =>
    dayStartMs(`${month}-${String(day).padStart(2, "0")}`, timeZone) + hour * HOUR_MS;

  const store = { ...accounts, clock: () => at(first, 1, 7) };
  const { account_id: accountId } = await createAccount(store, {
    name: NAME,
    whitelist: [],
    entitlements: ALL_ENTITLEMENTS,
  });
  onCreated(accountId);
  await setOwners(store, accountId, [{ kind: "email", value: OWNER_EMAIL }]);
  const rule = { ...RULE, from: isoTime(at(first, 1, 7)) };
  await changePriceRules(store, accountId, () => [rule]);

  const books = { costs: context.costs, accountId, rule, hashes: await context.keyedHashes() };
  const funding = (atMs: number, fundingId: string, naira: number): Step => [
    atMs,
    (ledger) => fundWallet(ledger, { accountId, fundingId, amountKobo: koboFromNaira(naira) }),
  ];
  const payment = (atMs: number, paymentId: string, naira: number): Step => [
    atMs,
    (ledger) => bookPayment(ledger, paymentId, naira),
  ];
  const atMonthEnd = dayStartMs(`${second}-01`, timeZone) - 20_000;
  const stated = Array.from({ length: 8 }, (_, index) => {
    const order = sampleOrder(books, 22 + index, at(second, STATED_DAY, 8 + index));
    return [22 + index, order] as const;
  });
  const steps: readonly Step[] = [
    payment(at(first, 1, 8), `WEMA-${first}-0311`, 25_000),
    funding(at(first, 1, 8), `GTB-${first}-0412`, 60_000),
    ...Array.from({ length: 9 }, (_, index) =>
      orderSteps(index, sampleOrder(books, index, at(first, 3 + index * 3, 8 + index))),
    ).flat(),
    // Open when the month is closed, and refunded in the next one.
    ...orderSteps(9, sampleOrder(books, 9, atMonthEnd), { afterMs: HOUR_MS / 2, isDelivered: false }),
    [atMonthEnd + HOUR_MS / 3, (ledger) => closeMonth({ ...context, ledger }, first)],
    funding(at(second, 3, 9), `GTB-${second}-0087`, 40_000),
    payment(at(second, 4, 10), `WEMA-${second}-0344`, 30_000),
    ...Array.from({ length: 12 }, (_, index) =>
      orderSteps(10 + index, sampleOrder(books, 10 + index, at(second, 2 + index * 2, 9 + (index % 9)))),
    ).flat(),
    [
      at(second, 20, 12),
      (ledger) =>
        adjustWallet(ledger, {
          accountId,
          adjustmentId: "outage",
          amount_kobo: koboFromNaira(1_500),
          why: "Goodwill for the outage of the 19th",
        }),
    ],
    ...stated.flatMap(([index, order]) => orderSteps(index, order)),
    // Of this month until yesterday, and of today, so that the float has a pace.
    ...spreadOrders(books, [30, 8], [dayStartMs(`${thisMonth}-01`, timeZone), todayMs]),
    ...spreadOrders(books, [38, 4], [todayMs, nowMs]),
  ];
  for (const [atMs, write] of steps.toSorted(([one], [other]) => one - other)) {
    await write({ ...context.ledger, clock: () => atMs });
  }
  await importDay(context, statedDay, statementOf(stated));
  return accountId;
};

/** The day of the last month whose statement is imported. */
const STATED_DAY = 27;

/** What the sample books are about: the month that is closed, the two after it, and the day of the upstream's statement. */
export const sampleDates = (nowMs: number, settings: MonthSettings) => {
  const { month: lastMonth } = nextToClose({ clock: () => nowMs }, undefined, settings);
  const [closedMonth, thisMonth] = [monthAfter(lastMonth, -1), monthAfter(lastMonth)];
  return { thisMonth, closedMonth, lastMonth, statedDay: `${lastMonth}-${STATED_DAY}` };
};

/** A write, and when it is dated. */
type Step = readonly [atMs: number, write: (ledger: AuditedLedger) => Promise<unknown>];

type Books = Pick<SampleContext, "costs"> & {
  readonly accountId: string;
  readonly rule: PriceRule;
  readonly hashes: KeyedHashes;
};

/** Delivered orders that are spread evenly over a time. */
const spreadOrders = (
  books: Books,
  [first, count]: readonly [number, number],
  [fromMs, toMs]: readonly [number, number],
): readonly Step[] =>
  Array.from({ length: count }, (_, index) => {
    const atMs = fromMs + Math.floor(((toMs - fromMs) * (index + 1)) / (count + 2));
    return orderSteps(first + index, sampleOrder(books, first + index, atMs), { afterMs: 0, isDelivered: true });
  }).flat();

type End = { readonly afterMs: number; readonly isDelivered: boolean };
const endOf = (index: number): End => ({ afterMs: fails(index) ? 8_000 : 2_000, isDelivered: !fails(index) });

/** An order's debit, and its end. */
const orderSteps = (
  index: number,
  order: Transaction,
  { afterMs, isDelivered }: End = endOf(index),
): readonly Step[] => {
  const settlement = isDelivered
    ? { status: "success" as const, upstream_reference: upstreamReferenceOf(index) }
    : NOT_DELIVERED;
  const atMs = Date.parse(order.created_at);
  return [
    [atMs, (ledger) => openTransaction(ledger, order, [], deadlineIn(WRITE_MS))],
    [atMs + afterMs, (ledger) => settleTransaction(ledger, order, settlement, deadlineIn(WRITE_MS))],
  ];
};

const upstreamReferenceOf = (index: number): string => `UP-${70_411 + index * 37}`;

const sampleOrder = ({ accountId, rule, costs, hashes }: Books, index: number, atMs: number): Transaction => {
  const { type, network, naira, what } = GOODS[index % GOODS.length] ?? GOODS[0];
  const order = { kind: type, network: network.toLowerCase(), faceKobo: koboFromNaira(naira) };
  const { amountKobo, faceKobo, rule: applied } = priceAt([rule], order, atMs);
  const cost_kobo = expectedCost(costs, order);
  const phone_number = `0803${String(4_512_367 + index * 7_919).padStart(7, "0")}`;
  const caller_reference = `order-${1_040 + index}`;
  const pk = transactionPk(hashes.transactionId({ accountId, mode: "live", callerReference: caller_reference }));
  const now = isoTime(atMs);
  return {
    ...{ pk, list_key: transactionList(accountId, "live"), account_id: accountId, key_id: "key_sample" },
    ...{ mode: "live", type, status: "processing", write_token: randomUUID(), fingerprint: `sample ${index}` },
    caller_reference,
    amount_kobo: amountKobo,
    ...(faceKobo !== amountKobo && { face_kobo: faceKobo }),
    ...(cost_kobo !== undefined && { cost_kobo }),
    ...(applied !== undefined && { price_rule: applied }),
    ...{
      description: `${network} ${what} for ${phone_number}`,
      network,
      phone_number,
      phone_key: hashes.phoneKey(phone_number),
    },
    ...{ open: openList({ pk }), listed_at: now, created_at: now, updated_at: now },
  };
};

const auditOf = (ledger: AuditedLedger, action: string, details: Readonly<Record<string, string | number>>): AuditPut =>
  auditPut(ledger, auditEntry({ audit_log: SERVICE, ...BY, action, why: "sample", details }, ledger.clock()));

const bookPayment = (ledger: AuditedLedger, id: string, naira: number) =>
  recordPayment(
    ledger,
    { paymentId: id, amountKobo: koboFromNaira(naira), ...BY },
    auditOf(ledger, "float fund", { id, amount: naira }),
  );

const closeMonth = async (context: SampleContext, month: string): Promise<void> => {
  const { ledger } = context;
  const toClose = await monthToClose(ledger, month, context);
  let closing = await beginClosing(ledger, toClose);
  for (;;) {
    const progress = await continueClosing(ledger, toClose, closing, deadlineIn(WRITE_MS));
    if (progress === undefined) break;
    closing = progress.closing;
  }
  await closeService(ledger, toClose, ({ hash }) => auditOf(ledger, "periods close", { month, hash }));
};

const HEADING = "reference,caller_reference,type,phone_number,amount,status,created_at";

/** A day of the upstream's statement: the true one, but for one amount, one order that it lacks, and one that is not ours. */
const statementOf = (orders: readonly (readonly [index: number, order: Transaction])[]): string => {
  const rows = orders
    .filter((_, place) => place !== 5)
    .map(([index, order]) => {
      const { type, phone_number = "", face_kobo, amount_kobo, created_at } = order;
      const naira = nairaFromKobo(face_kobo ?? amount_kobo) + (index === orders[2]?.[0] ? 50 : 0);
      return [
        ...[upstreamReferenceOf(index), referenceOf(order), type, phone_number, nairaDecimals(naira)],
        ...[fails(index) ? "failed" : "success", created_at],
      ].join(",");
    });
  const [, last] = orders.at(-1) ?? [];
  const foreign = `UP-99001,,airtime,08055512345,750.00,success,${last?.created_at ?? ""}`;
  return [HEADING, ...rows, foreign].join("\n");
};

const importDay = async (context: SampleContext, day: string, statement: string): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), "sample-statement-"));
  const path = join(folder, "statement.csv");
  const { ledger, costs, queueMinutes, keyedHashes } = context;
  const acting = { actor: () => BY, capacity: "operator" as const, ledger, costs, queueMinutes, keyedHashes };
  try {
    writeFileSync(path, statement);
    await importStatement(directImporter(acting), { path, day, map: documentedColumns });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};
