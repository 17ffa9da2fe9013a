import type { OrderLimits } from "../../../shared/contract/order-limits.ts";
import type { Mode } from "../../../shared/contract/transaction.ts";
import { sum } from "../../../shared/platform/sum.ts";

/** Phone numbers by what the upstream, or the sandbox, does with an order for them. */
export const phoneNumbers = {
  delivered: "08031234567",
  failed: "08000000001",
  succeedsLater: "08000000002",
  failsLater: "08000000003",
  staysOpen: "08000000004",
  insufficientBalance: "08000000005",
  unavailable: "08000000006",
  noAnswer: "08000000007",
} as const;
export type PurchaseCase = keyof typeof phoneNumbers;

/** NINs by the outcome of a check of them. */
export const nins = {
  found: "12345678900",
  noRecord: "00000000001",
  refused: "00000000002",
  unavailable: "00000000003",
  insufficientBalance: "00000000005",
  noAnswer: "00000000006",
} as const;
export type CheckCase = keyof typeof nins;

export type Status = "processing" | "success" | "failed";

/** The status in the answer to a purchase without faults; undefined where no transaction is made. */
export const expectedPurchaseStatus = (mode: Mode, purchase: PurchaseCase): Status | undefined => {
  if (isRefusedBeforeDebit(mode, purchase)) return undefined;
  if (purchase === "insufficientBalance") return "failed";
  if (purchase === "delivered") return "success";
  if (mode === "live") return "processing";
  return purchase === "failed" ? "failed" : "processing";
};
/** The status in the answer to a check without faults; undefined where no transaction is made. */
export const expectedCheckStatus = (mode: Mode, check: CheckCase): Status | undefined => {
  if (check === "found") return "success";
  return isRefusedBeforeDebit(mode, check) ? undefined : "failed";
};

/** The sandbox refuses these before it makes a transaction. */
const isRefusedBeforeDebit = (mode: Mode, outcome: PurchaseCase | CheckCase): boolean =>
  mode === "test" && (outcome === "insufficientBalance" || outcome === "unavailable");

/** A transaction as it follows from every request and event so far. */
export type ExpectedTransaction = {
  readonly pk: string;
  /** The caller's. */
  readonly reference: string;
  readonly mode: Mode;
  readonly isCheck: boolean;
  /** Route and body: a replay has the same, a conflict another. */
  readonly request: string;
  readonly amountKobo: number;
  status: Status;
  /** The error code of its answer, once it was answered with one. */
  errorCode?: string;
  /** Final statuses that are on their way in an event or a queued settlement. */
  readonly nextStatuses: Set<"success" | "failed">;
  /** When its request was sent, which is not later than the time in the ledger. */
  readonly createdAtMs: number;
  /** The day in the stage's zone in which its debit was made. */
  readonly day: string;
  /** The key of its request. */
  readonly key: string;
  /** It waited at the upstream's limit: the status that it gets once it is sent. */
  waits?: {
    readonly sentStatus: Status;
    /** The upstream refused it by itself: it is sent again, and refunded after some refusals. */
    isSetAside: boolean;
  };
  /** A fault hit its request: its status was read from the ledger, and not predicted. */
  isUncertain?: true;
};

/** One account as it should be. */
export type ExpectedAccount = {
  /** By mode and caller's reference. */
  readonly transactions: Map<string, ExpectedTransaction>;
  /** Fundings and adjustments by id, in kobo. */
  readonly ledgerEntries: Map<string, number>;
  /** What its live orders may be at most; undefined: they are not counted. One of a day or a month is always set. */
  limits: OrderLimits | undefined;
  /** The same for its live key, and for each one that replaces it. */
  keyLimits: OrderLimits | undefined;
};

export const newExpectedAccount = (
  fundedKobo: number,
  { limits, keyLimits }: Partial<Pick<ExpectedAccount, "limits" | "keyLimits">> = {},
): ExpectedAccount => ({
  limits,
  keyLimits,
  transactions: new Map(),
  ledgerEntries: new Map([["first", fundedKobo]]),
});

export const expectedKey = (mode: Mode, reference: string): string => `${mode} ${reference}`;

/** The wallet's balance as it should be, in kobo. */
export const expectedBalance = ({ transactions, ledgerEntries }: ExpectedAccount): number => {
  const charged = [...transactions.values()].filter(({ mode, status }) => mode === "live" && status !== "failed");
  return sum([...ledgerEntries.values()]) - sum(charged.map(({ amountKobo }) => amountKobo));
};

/**
 * Whether a live order would pass a limit of its account or key on this day: all live orders that are not refunded
 * count.
 */
export const passesLimit = (
  { transactions, limits = {}, keyLimits = {} }: ExpectedAccount,
  key: string,
  amountKobo: number,
  day: string,
): boolean => {
  const counted = [...transactions.values()].filter(({ mode, status }) => mode === "live" && status !== "failed");
  const ofKey = counted.filter((one) => one.key === key);
  return passes(limits, counted, amountKobo, day) || passes(keyLimits, ofKey, amountKobo, day);
};

const passes = (
  limits: OrderLimits,
  counted: readonly ExpectedTransaction[],
  amountKobo: number,
  day: string,
): boolean => {
  const inDay = counted.filter((one) => one.day === day);
  const inMonth = counted.filter((one) => one.day.slice(0, 7) === day.slice(0, 7));
  const isBeyond = (naira: number | undefined, of: readonly ExpectedTransaction[]): boolean =>
    naira !== undefined && sum(of.map((one) => one.amountKobo)) + amountKobo > naira * 100;
  const { order_naira, day_naira, month_naira, day_orders = Infinity, month_orders = Infinity } = limits;
  return (
    isBeyond(order_naira, []) ||
    isBeyond(day_naira, inDay) ||
    isBeyond(month_naira, inMonth) ||
    inDay.length >= day_orders ||
    inMonth.length >= month_orders
  );
};
