import * as z from "#zod";
import { getItem } from "../ledger/get-item.ts";
import type { Transaction } from "../ledger/transaction.ts";
import type { DocumentClient } from "../platform/aws-clients.ts";
import { cachePk } from "../platform/cache-keys.ts";
import { withTimeout } from "../platform/deadline.ts";
import { seal, sealingKey, unseal } from "../platform/seal.ts";
import type { Secret } from "../platform/secrets.ts";
import type { Clock } from "../platform/time.ts";

/** For how long a replay gets the result. */
const REPLAY_S = 600;
/** Leaves room for the other attributes within DynamoDB's limit of 400 KB per item. */
const RESULT_BYTES_MAX = 350 * 1_024;

/** The only place where a result is stored: encrypted, for 10 minutes. */
export const replayItem = z.object({
  pk: z.string(),
  sealed: z.instanceof(Uint8Array),
  /** Checked on read too, because DynamoDB deletes expired items up to days late. */
  expires_at_s: z.int(),
});

export type ReplayStore = {
  /** Stores a result for replays. Throws if it cannot be stored, which must not fail the request. */
  readonly store: (
    transaction: Transaction,
    result: Readonly<Record<string, unknown>>,
    limitMs: number,
  ) => Promise<void>;
  /** The result of this very transaction, for the caller to parse; undefined if it is not or no longer stored. */
  readonly find: (transaction: Transaction) => Promise<unknown>;
};

export const replayStore = (db: DocumentClient, table: string, replayKey: Secret, clock: Clock): ReplayStore => ({
  store: async (transaction, result, limitMs) => {
    const plain = Buffer.from(JSON.stringify(result));
    if (plain.length > RESULT_BYTES_MAX) return;
    await withTimeout(limitMs, async (abortSignal) => {
      const sealed = seal(await sealingKey(replayKey), encryptionContext(transaction), plain);
      const Item = { pk: replayPk(transaction), sealed, expires_at_s: Math.floor(clock() / 1_000) + REPLAY_S };
      await db.put({ TableName: table, Item }, { abortSignal });
    });
  },
  find: async (transaction) => {
    const item = await getItem({ db, table }, replayPk(transaction), replayItem);
    if (item === undefined || clock() >= item.expires_at_s * 1_000) return undefined;
    const plain = tryUnseal(await sealingKey(replayKey), transaction, Buffer.from(item.sealed));
    return plain && JSON.parse(plain.toString("utf8"));
  },
});

const replayPk = ({ pk }: Transaction): string => cachePk("replay", pk);

/** Binds a result to one write of one transaction: an item that is copied to another key cannot be unsealed. */
const encryptionContext = ({ pk, write_token }: Transaction): string => `${pk}#${write_token}`;

/** Undefined if the result was sealed with a key that has been rotated since. */
const tryUnseal = (key: Buffer, transaction: Transaction, sealed: Buffer): Buffer | undefined => {
  try {
    return unseal(key, encryptionContext(transaction), sealed);
  } catch {
    return undefined;
  }
};
