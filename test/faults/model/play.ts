import { expect } from "vitest";
import * as z from "zod";
import type { Mode } from "../../../shared/contract/transaction.ts";
import { findByCallerReference, readTransactions } from "../../../shared/ledger/find-transactions.ts";
import { referenceOf, type Transaction } from "../../../shared/ledger/transaction.ts";
import { readWallet } from "../../../shared/ledger/wallet.ts";
import { OperatorError } from "../../../shared/platform/operator-error.ts";
import { enableEndpoint } from "../../../shared/webhooks/endpoint.ts";
import { enqueueRange } from "../../../shared/webhooks/enqueue-range.ts";
import { transactionsOf, violations } from "../invariants.ts";
import { comeToRest, leaveStage, resolveOpen } from "../recovery.ts";
import { type AppEndpoint, FUNDED_NAIRA, type Stage, setStage } from "../stage.ts";
import { advance } from "../world/clock.ts";
import type { Ending, Fault } from "../world/effects.ts";
import type { Answer, World } from "../world/world.ts";
import { type AccountBook, balanceOf, type Entry, entryKey, newBook, type Status } from "./book.ts";

/** Two accounts at work, and the books that say how they should stand. */
export type Play = {
  readonly world: World;
  readonly actors: readonly [Actor, Actor];
  /** Counted so that no key meets its limit. */
  requests: number;
};
export type Actor = {
  readonly stage: Stage;
  readonly book: AccountBook;
  readonly keys: Record<Mode, string>;
  /** Its endpoint was switched off for a while. */
  missed: boolean;
};

export const openPlay = async (world: World, endpoint: AppEndpoint): Promise<Play> => {
  const actor = async (): Promise<Actor> => {
    const stage = await setStage(world, endpoint);
    return { stage, book: newBook(FUNDED_NAIRA * 100), keys: { ...stage.keys }, missed: false };
  };
  return { world, actors: [await actor(), await actor()], requests: 0 };
};

/** One effect of what is done next, counted from 1, and what it meets. */
export type Disturbance = { readonly at: number; readonly fault: Fault };
/** An upstream that said 429 is left alone for so long. */
const UPSTREAM_PAUSE_MS = 31_000;

/** Does something, and disturbs it. True if the disturbance happened, or if AWS did what the emulators would not have done. */
export const disturbed = async (
  { world }: Play,
  disturbance: Disturbance | undefined,
  work: () => Promise<unknown>,
): Promise<boolean> => {
  const before = world.strict()?.interventions();
  const wasIntervened = (): boolean => world.strict()?.interventions() !== before;
  if (disturbance === undefined) {
    await work();
    return wasIntervened();
  }
  let count = 0;
  world.plan = () => {
    count += 1;
    return count === disturbance.at ? disturbance.fault : undefined;
  };
  await work();
  world.plan = () => undefined;
  if (disturbance.fault === "throttled") advance(UPSTREAM_PAUSE_MS);
  return count >= disturbance.at || wasIntervened();
};

/** A request that must be answered rightly, unless it was disturbed and says that it cannot be answered now: then undefined. */
export const callUndisturbed = async (
  play: Play,
  ...request: Parameters<World["call"]>
): Promise<Answer | undefined> => {
  let answer: Answer | undefined;
  const happened = await disturbed(play, undefined, async () => {
    answer = await play.world.call(...request);
  });
  if (happened && (answer === undefined || answer.statusCode >= 500)) return undefined;
  if (answer === undefined) throw new Error(`${request[0].path} was not answered`);
  return answer;
};

const COMMAND_TRIES_MAX = 20;

/** An operator's command, given until it has an end; one that AWS disturbs is given again. */
export const giveUntilEnded = async <Result>(
  play: Play,
  command: () => Promise<Ending<Result>>,
): Promise<Ending<Result>> => {
  for (let tries = 1; ; tries += 1) {
    const before = play.world.strict()?.interventions();
    const ending = await command();
    const isEnded = ending.kind === "returned" || (ending.kind === "threw" && ending.error instanceof OperatorError);
    if (isEnded || tries === COMMAND_TRIES_MAX || play.world.strict()?.interventions() === before) return ending;
  }
};

const REQUESTS_A_MINUTE = 25;
const MINUTE_MS = 60_000;
export const beforeRequest = (play: Play): void => {
  play.requests += 1;
  if (play.requests % REQUESTS_A_MINUTE === 0) advance(MINUTE_MS);
};

const answered = z.object({ data: z.object({ transaction: z.object({ status: z.string() }) }) });
export const codeOf = ({ headers }: Answer): string | undefined => headers["x-error-code"];
export const isReplay = ({ headers }: Answer): boolean => headers["idempotent-replayed"] === "true";
export const statusOf = ({ body }: Answer): string => answered.parse(body).data.transaction.status;

/** What stands under an app's reference. */
export const rowUnder = (
  { stage: { world, accountId } }: Actor,
  { mode, reference }: Pick<Entry, "mode" | "reference">,
): Promise<Transaction | undefined> =>
  findByCallerReference(world.ledger, world.keyedHashes, { accountId, mode }, reference);

const rowsOf = async ({ stage }: Actor): Promise<ReadonlyMap<string, Transaction>> =>
  new Map(
    (await transactionsOf(stage)).map((transaction) => [
      entryKey(transaction.mode, transaction.caller_reference ?? ""),
      transaction,
    ]),
  );

/** The upstream's own record of a transaction. */
export const orderOf = ({ world }: Play, transaction: Transaction) =>
  world.upstream.purchases.find(({ reference }) => reference === referenceOf(transaction));

/** What an entry may be that was disturbed: what it should become, or what an end of it on the way allows. */
const afterDisturbance = (play: Play, entry: Entry, transaction: Transaction): readonly Status[] => {
  if (entry.isCheck) return ["success", "failed"];
  if (transaction.mode === "test") return ["success", "failed"];
  const order = orderOf(play, transaction);
  if (order === undefined) return ["failed"];
  return order.status === "processing" ? [] : [order.status];
};

/** Takes over what time and events have made of open entries, if they may have. */
export const adoptEnds = async (play: Play, actor: Actor): Promise<void> => {
  const open = [...actor.book.entries.values()].filter(({ status }) => status === "processing");
  if (open.length === 0) return;
  const rows = new Map(
    (await readTransactions(play.world.ledger, open)).map((transaction) => [transaction.pk, transaction]),
  );
  for (const entry of open) {
    const row = rows.get(entry.pk);
    if (row === undefined) throw new Error(`${entry.mode} ${entry.reference} is gone`);
    adopt(play, entry, row);
  }
};

export const adopt = (play: Play, entry: Entry, transaction: Transaction): void => {
  const allowed: Status[] = [entry.status, ...entry.reported];
  if (entry.wasDisturbed) allowed.push(...afterDisturbance(play, entry, transaction));
  expect(allowed, `what ${entry.mode} ${entry.reference} may have become`).toContain(transaction.status);
  entry.status = transaction.status;
  if (transaction.failure !== undefined) entry.code = transaction.failure.code;
};

/** Everything that an account has, against its book. */
export const compare = async (actor: Actor): Promise<void> => {
  const rows = await rowsOf(actor);
  const { world, accountId } = actor.stage;
  const found = [...rows].map(([key, { status, amount_kobo }]) => `${key} ${status} ${amount_kobo}`);
  const kept = [...actor.book.entries].map(([key, { status, kobo }]) => `${key} ${status} ${kobo}`);
  expect(new Set(found)).toEqual(new Set(kept));
  const { balance_kobo } = await readWallet(world.ledger, accountId);
  expect(balance_kobo).toBe(balanceOf(actor.book));
};

/** The operator resolves what is left as the upstream's books say; what is not in them was never delivered. */
const adoptResolved = async (play: Play, actor: Actor): Promise<void> => {
  const rows = await rowsOf(actor);
  for (const [key, entry] of actor.book.entries) {
    const transaction = rows.get(key);
    if (entry.status !== "processing" || entry.mode === "test" || transaction === undefined) continue;
    entry.status = orderOf(play, transaction)?.status === "success" ? "success" : "failed";
  }
};

const ABANDONED_MS = 6 * MINUTE_MS;

/** Lets everything end, and looks at all of it. */
export const endPlay = async (play: Play): Promise<void> => {
  const { world, actors } = play;
  world.strict()?.calm();
  await comeToRest(world);
  advance(ABANDONED_MS);
  await world.strike("reconcile-ledger");
  await comeToRest(world);
  for (const actor of actors) await adoptEnds(play, actor);
  for (const actor of actors) {
    await resolveOpen(actor.stage);
    await adoptResolved(play, actor);
    await compare(actor);
  }
  await comeToRest(world);
  await tellMissed(play);
  for (const { stage } of actors) expect(await violations(stage)).toEqual([]);
  for (const { stage } of actors) await leaveStage(stage);
};

/** What ended while an endpoint was off is told when the operator asks for it. */
const tellMissed = async ({ world, actors }: Play): Promise<void> => {
  const missing = actors.filter(({ missed }) => missed);
  if (missing.length === 0) return;
  for (const { stage } of missing) await enableEndpoint(world.endpoints, stage.accountId);
  const { ledger, accounts, deliveryQueue: queue } = world;
  const ever = { fromMs: 0, toMs: ledger.clock(), resendId: "missed", lookBackMs: 0 };
  await enqueueRange({ ledger, accounts, queue }, ever);
  await comeToRest(world);
};
