import { GetCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import { isoTime } from "../platform/time.ts";
import { type Checkpoint, firstCheckpoint, readCheckpoint, writeCheckpoint } from "./checkpoint.ts";
import { entriesOwner } from "./funding.ts";
import { ownedKeys } from "./index-pages.ts";
import type { Ledger } from "./ledger.ts";
import { readTransactions } from "./lookup.ts";
import { ownerOf, type TransactionRow } from "./transaction.ts";
import { readWallet } from "./wallet.ts";

/** What proves a wallet: fundings and adjustments minus transactions that are not `failed` equal the balance. All in kobo. */
export type Proof = {
  readonly balance_kobo: number;
  readonly expected_kobo: number;
  /** What is in the wallet beyond what should be; 0 is proved. */
  readonly difference_kobo: number;
};

/** The index lags behind the table by moments: what is younger is summed anew each time. */
const SETTLED_AGE_MS = 3_600_000;
/** What was made so long before a reading is in the index by then: a request ends after 29 s, and the index lags by moments. */
const INDEXED_AGE_MS = 120_000;
const PROOF_ROUNDS_MAX = 5;

/**
 * Proves one wallet; undefined while it is too busy to be proved. The wallet's version tells whether something was written
 * meanwhile: then what may have changed is read again, which takes a moment, however much there is in all.
 */
export const proveWallet = async (
  ledger: Ledger,
  accountId: string,
  given?: Checkpoint,
): Promise<Proof | undefined> => {
  const checkpoint = given ?? (await readCheckpoint(ledger, accountId));
  const movements = new Map<string, Movement>();
  let from = checkpoint.up_to;
  for (let round = 0; round < PROOF_ROUNDS_MAX; round += 1) {
    const begun_ms = ledger.clock();
    const before = await readWallet(ledger, accountId);
    const mayHaveEnded = [...movements.values()].filter(({ isOpen }) => isOpen);
    const read = [
      ...(await readTransactions(ledger, mayHaveEnded)).map(movementOf),
      ...(await movementsSince(ledger, accountId, from)),
    ];
    for (const movement of read) movements.set(movement.pk, movement);
    const after = await readWallet(ledger, accountId);
    if (before.version === after.version) {
      const expected_kobo = checkpoint.sum_kobo + sum([...movements.values()]);
      const { balance_kobo } = after;
      return { balance_kobo, expected_kobo, difference_kobo: balance_kobo - expected_kobo };
    }
    // What has ended never changes, and what is open is read by its key.
    const indexed = isoTime(begun_ms - INDEXED_AGE_MS);
    if (indexed > from) from = indexed;
  }
  return undefined;
};

const AGREEING_ROUNDS_MAX = 6;

/** A proof without a difference, or one whose difference was the same in the reading before; undefined where no two agree. */
const agreedProof = async (
  prove: () => Promise<Proof | undefined>,
  pause: () => Promise<void>,
  before?: Proof,
): Promise<Proof | undefined> => {
  let last = before;
  for (let round = 0; round < AGREEING_ROUNDS_MAX; round += 1) {
    const proof = await prove();
    if (proof === undefined || proof.difference_kobo === 0) return proof;
    if (proof.difference_kobo === last?.difference_kobo) return proof;
    last = proof;
    await pause();
  }
  return undefined;
};

/**
 * Proves one wallet for a person, who acts on the result at once. A difference may come from an index that lags: it counts once two
 * readings with a `pause` between them agree. It may also come from a checkpoint that does not hold an entry which was written with
 * an earlier time: the confirmed difference is that of a reading of everything, and a checkpoint that this refutes is reset.
 */
export const confirmedProof = async (
  ledger: Ledger,
  accountId: string,
  pause: () => Promise<void>,
): Promise<Proof | undefined> => {
  const proof = await agreedProof(() => proveWallet(ledger, accountId), pause);
  if (proof === undefined || proof.difference_kobo === 0) return proof;
  const everything = () => proveWallet(ledger, accountId, firstCheckpoint(accountId));
  const whole = await agreedProof(everything, pause, proof);
  if (whole !== undefined && whole.difference_kobo !== proof.difference_kobo) {
    await writeCheckpoint(ledger, firstCheckpoint(accountId));
  }
  return whole;
};

/** Keeps the result of a proof, and moves the checkpoint forward as far as everything has ended. */
export const keepProof = async (ledger: Ledger, accountId: string, proof: Proof): Promise<void> => {
  const before = await readCheckpoint(ledger, accountId);
  const limit = isoTime(ledger.clock() - SETTLED_AGE_MS);
  const movements = (await movementsSince(ledger, accountId, before.up_to)).filter(({ at }) => at <= limit);
  const firstOpen = movements.find(({ isOpen }) => isOpen)?.at;
  const settled = movements.filter(({ at }) => firstOpen === undefined || at < firstOpen);
  // A wrong sum is not made the ground of later proofs.
  const moves = proof.difference_kobo === 0 ? settled : [];
  const next: Checkpoint = {
    ...before,
    sum_kobo: before.sum_kobo + sum(moves),
    up_to: moves.at(-1)?.at ?? before.up_to,
    proved_at: isoTime(ledger.clock()),
    difference_kobo: proof.difference_kobo,
  };
  await writeCheckpoint(ledger, next);
};

/** Something that moved a wallet, or may still move it back: kobo, signed. */
type Movement = { readonly pk: string; readonly at: string; readonly kobo: number; readonly isOpen: boolean };

const entryRow = z.object({ pk: z.string(), amount_kobo: z.int(), created_at: z.iso.datetime() });

/** Oldest first, and strictly after `up_to`. */
const movementsSince = async (ledger: Ledger, accountId: string, up_to: string): Promise<readonly Movement[]> => {
  const range = { from: up_to, to: "9999" };
  const transactions = await readTransactions(ledger, await ownedKeys(ledger, ownerOf(accountId, "live"), range));
  const entries = await readEntries(ledger, await ownedKeys(ledger, entriesOwner(accountId), range));
  const movements: Movement[] = [
    ...transactions.map(movementOf),
    ...entries.map(({ pk, created_at, amount_kobo }) => ({ pk, at: created_at, kobo: amount_kobo, isOpen: false })),
  ];
  return movements.filter(({ at }) => at > up_to).sort((one, other) => (one.at < other.at ? -1 : 1));
};

const movementOf = ({ pk, created_at, amount_kobo, status }: TransactionRow): Movement => ({
  pk,
  at: created_at,
  kobo: status === "failed" ? 0 : -amount_kobo,
  isOpen: status === "processing",
});

const readEntries = async ({ db, table }: Ledger, keys: readonly { readonly pk: string }[]) => {
  const entries: z.infer<typeof entryRow>[] = [];
  for (const { pk } of keys) {
    const { Item } = await db.send(new GetCommand({ TableName: table, Key: { pk }, ConsistentRead: true }));
    entries.push(entryRow.parse(Item));
  }
  return entries;
};

const sum = (movements: readonly Movement[]): number => movements.reduce((total, { kobo }) => total + kobo, 0);
