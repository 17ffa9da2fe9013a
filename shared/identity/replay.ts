import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { type DynamoDBDocumentClient, GetCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import type { Secret } from "../platform/secrets.ts";
import type { Clock } from "../platform/time.ts";
import type { TransactionRow } from "../wallet/transaction.ts";

/** How long a repeat gets the result again. */
const REPLAY_S = 600;
/** What one item of the cache table can hold beside its other attributes. */
const RESULT_BYTES_MAX = 350 * 1_024;
const SECRET_LENGTH_MIN = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** The one place where a result is kept at all: encrypted, for 10 minutes. */
const replayRow = z.object({
  pk: z.string(),
  sealed: z.instanceof(Uint8Array),
  /** Expiry is checked on read as well: DynamoDB deletes up to days late. */
  expires_at_s: z.int(),
});

export type Replays = {
  /** Keeps a result. Throws when it cannot: the request must not fail for it. */
  readonly keep: (row: TransactionRow, result: Readonly<Record<string, unknown>>) => Promise<void>;
  /** The result of this very transaction, or undefined when it is no longer kept. */
  readonly find: (row: TransactionRow) => Promise<Record<string, unknown> | undefined>;
};

export const replays = (db: DynamoDBDocumentClient, table: string, replayKey: Secret, clock: Clock): Replays => ({
  keep: async (row, result) => {
    const plain = Buffer.from(JSON.stringify(result));
    if (plain.length > RESULT_BYTES_MAX) return;
    const sealed = seal(await cipherKey(replayKey), row, plain);
    const Item = { pk: replayPk(row), sealed, expires_at_s: Math.floor(clock() / 1_000) + REPLAY_S };
    await db.send(new PutCommand({ TableName: table, Item }));
  },
  find: async (row) => {
    const { Item } = await db.send(
      new GetCommand({ TableName: table, Key: { pk: replayPk(row) }, ConsistentRead: true }),
    );
    if (Item === undefined) return undefined;
    const { sealed, expires_at_s } = replayRow.parse(Item);
    if (clock() >= expires_at_s * 1_000) return undefined;
    const plain = unseal(await cipherKey(replayKey), row, Buffer.from(sealed));
    return plain && z.record(z.string(), z.unknown()).parse(JSON.parse(plain.toString("utf8")));
  },
});

const replayPk = ({ pk }: TransactionRow): string => `replay#${pk}`;

const cipherKey = async (replayKey: Secret): Promise<Buffer> => {
  const value = await replayKey.value();
  if (value === undefined || value.length < SECRET_LENGTH_MIN)
    throw new Error("The replay key secret is absent or too short");
  return createHash("sha256").update(value).digest();
};

/** Bound to its transaction: an item that was moved to another one does not open. */
const associatedData = ({ pk, attempt }: TransactionRow): Buffer => Buffer.from(`${pk}#${attempt}`);

/** AES-256-GCM: nonce, tag, ciphertext. */
const seal = (key: Buffer, row: TransactionRow, plain: Buffer): Buffer => {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(associatedData(row));
  const sealed = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
};

/** Undefined where it was sealed with a key that has been rotated since. */
const unseal = (key: Buffer, row: TransactionRow, sealed: Buffer): Buffer | undefined => {
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const tag = sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
  try {
    const decipher = createDecipheriv("aes-256-gcm", key, nonce).setAAD(associatedData(row)).setAuthTag(tag);
    return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
  } catch {
    return undefined;
  }
};
