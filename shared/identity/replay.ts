import { type DynamoDBDocumentClient, PutCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import { getItem } from "../ledger/get-item.ts";
import type { Transaction } from "../ledger/transaction.ts";
import { withTimeout } from "../platform/deadline.ts";
import { seal, sealingKey, unseal } from "../platform/seal.ts";
import type { Secret } from "../platform/secrets.ts";
import type { Clock } from "../platform/time.ts";

/** How long a repeat gets the result again. */
const REPLAY_S = 600;
/** What one item of the cache table can hold beside its other attributes. */
const RESULT_BYTES_MAX = 350 * 1_024;

/** The one place where a result is kept at all: encrypted, for 10 minutes. */
const replayRow = z.object({
  pk: z.string(),
  sealed: z.instanceof(Uint8Array),
  /** Expiry is checked on read as well: DynamoDB deletes up to days late. */
  expires_at_s: z.int(),
});

export type ReplayStore = {
  /** Keeps a result. Throws when it cannot: the request must not fail for it. */
  readonly keep: (
    transaction: Transaction,
    result: Readonly<Record<string, unknown>>,
    limitMs: number,
  ) => Promise<void>;
  /** The result of this very transaction, for the caller to parse; undefined when it is no longer kept. */
  readonly find: (row: Transaction) => Promise<unknown>;
};

export const replayStore = (
  db: DynamoDBDocumentClient,
  table: string,
  replayKey: Secret,
  clock: Clock,
): ReplayStore => ({
  keep: async (transaction, result, limitMs) => {
    const plain = Buffer.from(JSON.stringify(result));
    if (plain.length > RESULT_BYTES_MAX) return;
    await withTimeout(limitMs, async (abortSignal) => {
      const sealed = seal(await sealingKey(replayKey), ownerOf(transaction), plain);
      const Item = { pk: replayPk(transaction), sealed, expires_at_s: Math.floor(clock() / 1_000) + REPLAY_S };
      await db.send(new PutCommand({ TableName: table, Item }), { abortSignal });
    });
  },
  find: async (row) => {
    const item = await getItem({ db, table }, replayPk(row), replayRow);
    if (item === undefined) return undefined;
    const { sealed, expires_at_s } = item;
    if (clock() >= expires_at_s * 1_000) return undefined;
    const plain = opened(await sealingKey(replayKey), row, Buffer.from(sealed));
    return plain && JSON.parse(plain.toString("utf8"));
  },
});

const replayPk = ({ pk }: Transaction): string => `replay#${pk}`;

/** Bound to its transaction: an item that was moved to another one does not open. */
const ownerOf = ({ pk, attempt }: Transaction): string => `${pk}#${attempt}`;

/** Undefined where it was sealed with a key that has been rotated since. */
const opened = (key: Buffer, transaction: Transaction, sealed: Buffer): Buffer | undefined => {
  try {
    return unseal(key, ownerOf(transaction), sealed);
  } catch {
    return undefined;
  }
};
