import { expect } from "vitest";
import type { Route } from "../../../shared/contract/routes.ts";
import type { Mode } from "../../../shared/contract/transaction.ts";
import { pkOfReference } from "../../../shared/ledger/transaction.ts";
import type { Answer } from "../world/world.ts";
import { balanceOf, type Entry, entryKey, type Status } from "./book.ts";
import {
  type Actor,
  adopt,
  beforeRequest,
  codeOf,
  type Disturbance,
  disturbed,
  isReplay,
  type Play,
  rowUnder,
  statusOf,
} from "./play.ts";

/** An order or a check, as an app asks for it. */
export type Wish = {
  readonly route: Route;
  readonly mode: Mode;
  readonly reference: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly isCheck: boolean;
  readonly kobo: number;
  /** What it comes to when nothing disturbs it; undefined where nothing is made. */
  readonly ends: Status | undefined;
  /** What will be reported by itself. */
  readonly due: readonly ("success" | "failed")[];
};

/** How often it is asked for at the same time, and what disturbs it. */
export type Manner = { readonly copies: number; readonly disturbance: Disturbance | undefined };

const REPLAY_MS = 10 * 60_000;
/** A result is kept until a whole second, and asking takes a moment. */
const SLACK_MS = 5_000;

/** Asks for something, several times at once or once, and checks what is answered and made. */
export const askFor = async (play: Play, actor: Actor, wish: Wish, { copies, disturbance }: Manner): Promise<void> => {
  const { route, mode, reference, body } = wish;
  beforeRequest(play);
  const key = entryKey(mode, reference);
  const known = actor.book.entries.get(key);
  const balance = balanceOf(actor.book);
  const answers: (Answer | undefined)[] = [];
  const happened = await disturbed(play, disturbance, async () => {
    const calls = Array.from({ length: copies }, () =>
      play.world.call(route, actor.keys[mode], { ...body, reference }),
    );
    answers.push(...(await Promise.all(calls)));
  });
  if (known !== undefined) {
    for (const answer of answers) if (!happened || answer !== undefined) expectRepeat(known, wish, answer);
    return;
  }
  if (happened) return lookUp(play, actor, wish, answers);
  if (wish.ends === undefined || (mode === "live" && wish.kobo > balance)) {
    const codes = wish.ends === undefined ? refusalsBeforeDebit : ["insufficient_balance"];
    for (const answer of answers) expect(codes).toContain(answer && codeOf(answer));
    return;
  }
  const name = answers[0]?.headers["x-transaction-reference"] ?? "";
  const entry = newEntry(wish, wish.ends, pkOfReference(name) ?? "");
  actor.book.entries.set(key, entry);
  for (const answer of answers) expectFirst(entry, answer);
};

/** What the sandbox answers where it makes no transaction. */
const refusalsBeforeDebit = ["insufficient_balance", "provider_unavailable"];

const wishOf = ({ route, body }: Wish): string => JSON.stringify([route.path, body]);

const newEntry = (wish: Wish, status: Status, pk: string): Entry => ({
  pk,
  reference: wish.reference,
  mode: wish.mode,
  isCheck: wish.isCheck,
  wish: wishOf(wish),
  kobo: wish.kobo,
  status,
  reported: new Set(wish.due),
  madeAtMs: Date.now(),
});

/** A first answer; or one to a copy that came at the same time, which may still find it open. */
const expectFirst = (entry: Entry, answer: Answer | undefined): void => {
  if (answer === undefined) throw new Error(`${entry.reference} was not answered`);
  const code = codeOf(answer);
  if (code === undefined) {
    expect(isReplay(answer) ? ["processing", entry.status] : [entry.status]).toContain(statusOf(answer));
    return;
  }
  expect(entry.status).toBe("failed");
  expect(answer.headers["x-transaction-reference"]).toBeDefined();
  entry.code ??= code;
  expect(code).toBe(entry.code);
};

const expectRepeat = (known: Entry, wish: Wish, answer: Answer | undefined): void => {
  if (answer === undefined) throw new Error(`The repeat of ${known.reference} was not answered`);
  const code = codeOf(answer);
  if (known.wish !== wishOf(wish)) {
    expect(code).toBe("reference_reused");
    return;
  }
  if (known.status === "failed") {
    expect(code).toBe(known.code);
    expect(isReplay(answer)).toBe(true);
    return;
  }
  if (code !== undefined) {
    expect(code).toBe("reference_reused");
    expect(known.isCheck && mayBeForgotten(known)).toBe(true);
    return;
  }
  expect(statusOf(answer)).toBe(known.status);
  expect(isReplay(answer)).toBe(true);
};

const mayBeForgotten = ({ madeAtMs, wasDisturbed }: Entry): boolean =>
  wasDisturbed === true || Date.now() > madeAtMs + REPLAY_MS - SLACK_MS;

/** After a disturbance it is not foretold what was made, but what may have been. */
const lookUp = async (
  play: Play,
  actor: Actor,
  wish: Wish,
  answers: readonly (Answer | undefined)[],
): Promise<void> => {
  const key = entryKey(wish.mode, wish.reference);
  const transaction = await rowUnder(actor, wish);
  const given = answers.filter((answer) => answer !== undefined);
  if (transaction === undefined) {
    for (const answer of given) expect(codeOf(answer), "an answer without a transaction").toBeDefined();
    return;
  }
  const entry: Entry = { ...newEntry(wish, "processing", transaction.pk), wasDisturbed: true };
  if (wish.ends !== undefined && wish.ends !== "processing") entry.reported.add(wish.ends);
  actor.book.entries.set(key, entry);
  adopt(play, entry, transaction);
  // An error to one of several copies says nothing about the others; that all were refused, it says.
  const isRefused = answers.every((answer) => answer !== undefined && codeOf(answer) !== undefined);
  if (isRefused) expect(entry.status, "only errors, and the transaction").toBe("failed");
  for (const answer of given) {
    if (codeOf(answer) === undefined) expect(["processing", entry.status]).toContain(statusOf(answer));
  }
};
