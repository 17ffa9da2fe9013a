import type { Mode } from "../../../shared/contract/transaction.ts";

/** What the upstream, or the sandbox, does to a number; the magic digit says which. Source: INTERFACE "Sandbox". */
export const reactions = {
  delivers: "08031234567",
  cannotDeliver: "08000000001",
  endsWell: "08000000002",
  endsBadly: "08000000003",
  keepsOpen: "08000000004",
  isPoor: "08000000005",
  isDown: "08000000006",
  doesNotAnswer: "08000000007",
} as const;
export type Reaction = keyof typeof reactions;

/** The numbers of a check, by what comes of it. */
export const searches = {
  found: "12345678900",
  unknown: "00000000001",
  refused: "00000000002",
  isDown: "00000000003",
  isPoor: "00000000005",
  doesNotAnswer: "00000000006",
} as const;
export type Search = keyof typeof searches;

export type Status = "processing" | "success" | "failed";

/** How a request that was charged stands as soon as it is answered, if nothing disturbs it; undefined where nothing is made. */
export const purchaseEnds = (mode: Mode, reaction: Reaction): Status | undefined => {
  if (isRefusedBeforeDebit(mode, reaction)) return undefined;
  if (reaction === "isPoor") return "failed";
  if (reaction === "delivers") return "success";
  if (mode === "live") return "processing";
  return reaction === "cannotDeliver" ? "failed" : "processing";
};
export const checkEnds = (mode: Mode, search: Search): Status | undefined => {
  if (search === "found") return "success";
  return isRefusedBeforeDebit(mode, search) ? undefined : "failed";
};

/** The sandbox refuses these before a transaction is made. */
const isRefusedBeforeDebit = (mode: Mode, what: Reaction | Search): boolean =>
  mode === "test" && (what === "isPoor" || what === "isDown");

/** A transaction, as whoever wrote down every request and every event would know it. */
export type Entry = {
  /** The key of its item. */
  readonly pk: string;
  readonly reference: string;
  readonly mode: Mode;
  readonly isCheck: boolean;
  /** What was asked for: a repeat asks for the same. */
  readonly wish: string;
  readonly kobo: number;
  status: Status;
  /** The error that it was answered with, once it was. */
  code?: string;
  /** Ends that were reported or are due, and not yet delivered to us. */
  readonly reported: Set<"success" | "failed">;
  readonly madeAtMs: number;
  /** Something was disturbed: what it came to was looked up, and not foretold. */
  wasDisturbed?: true;
};

/** One account, as it should be. */
export type AccountBook = {
  readonly entries: Map<string, Entry>;
  /** Fundings and adjustments by id, in kobo. */
  readonly moved: Map<string, number>;
};

export const newBook = (fundedKobo: number): AccountBook => ({
  entries: new Map(),
  moved: new Map([["first", fundedKobo]]),
});

export const entryKey = (mode: Mode, reference: string): string => `${mode} ${reference}`;

/** What should be in the wallet, in kobo. */
export const balanceOf = ({ entries, moved }: AccountBook): number => {
  const taken = [...entries.values()].filter(({ mode, status }) => mode === "live" && status !== "failed");
  return sum([...moved.values()]) - sum(taken.map(({ kobo }) => kobo));
};

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
