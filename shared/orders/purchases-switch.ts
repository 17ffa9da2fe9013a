import { type DynamoDBDocumentClient, GetCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import { log } from "../platform/log.ts";
import type { Clock } from "../platform/time.ts";

/** How long an instance of a function relies on one reading: an operator's change takes effect within this time. */
export const PURCHASES_CACHE_MS = 10_000;
/** From then on a reading raises an alarm: somebody may have forgotten to switch purchases on again. */
const STILL_OFF_MS = 60 * 60_000;

export type OnOrOff = "on" | "off";

const PK = "purchases";

/** Who switched purchases on or off, when and why. */
const purchasesSwitch = z.object({
  purchases: z.enum(["on", "off"]),
  since: z.iso.datetime(),
  by: z.string(),
  /** On AWS, the identity that AWS STS gave for the operator's credentials. */
  caller_arn: z.string().optional(),
  why: z.string().optional(),
});
export type PurchasesSwitch = z.output<typeof purchasesSwitch>;
/** Only `purchases` is known where the switch was never used. */
export type PurchasesState = Pick<PurchasesSwitch, "purchases"> & Partial<PurchasesSwitch>;

/**
 * Where the switch is kept: an item of the cache table, which is never restored or adopted, so that a restore of the
 * other tables brings no earlier switch back. `initially` holds until an operator uses the switch for the first time.
 */
export type PurchasesStore = {
  readonly db: DynamoDBDocumentClient;
  readonly table: string;
  readonly initially: OnOrOff;
};

/** The switch as it is now. */
export const readPurchasesSwitch = async ({ db, table, initially }: PurchasesStore): Promise<PurchasesState> => {
  const { Item } = await db.send(new GetCommand({ TableName: table, Key: { pk: PK }, ConsistentRead: true }));
  return Item === undefined ? { purchases: initially } : purchasesSwitch.parse(Item);
};

export const writePurchasesSwitch = async ({ db, table }: PurchasesStore, next: PurchasesSwitch): Promise<void> => {
  await db.send(new PutCommand({ TableName: table, Item: { pk: PK, ...next } }));
};

/**
 * Whether orders may be placed, cached for 10 seconds. Throws if the switch cannot be read when they are over: an older
 * reading could debit a ledger that is being restored.
 */
export const cachedPurchases = (store: PurchasesStore, clock: Clock): (() => Promise<OnOrOff>) => {
  let cached: { readonly purchases: OnOrOff; readonly untilMs: number } | undefined;
  return async () => {
    const nowMs = clock();
    if (cached !== undefined && nowMs < cached.untilMs) return cached.purchases;
    const { purchases, since } = await readPurchasesSwitch(store);
    // Counted from before the read, so that a slow response does not prolong it.
    cached = { purchases, untilMs: nowMs + PURCHASES_CACHE_MS };
    if (purchases === "off" && since !== undefined && nowMs - Date.parse(since) > STILL_OFF_MS) {
      log.alarm("purchases.still_off", { since });
    }
    return purchases;
  };
};
