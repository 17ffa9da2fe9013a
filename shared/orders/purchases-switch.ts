import { ConditionalCheckFailedException } from "@aws-sdk/client-dynamodb";
import { type DynamoDBDocumentClient, GetCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import { ServiceError } from "../contract/errors.ts";
import { cachePk } from "../platform/cache-keys.ts";
import { errorFields, log } from "../platform/log.ts";

export type OnOrOff = "on" | "off";

export const PURCHASES_PK = cachePk("purchases");

/** Who switched purchases on or off, when and why. */
export const purchasesSwitch = z.object({
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
  const { Item } = await db.send(new GetCommand({ TableName: table, Key: { pk: PURCHASES_PK }, ConsistentRead: true }));
  return Item === undefined ? { purchases: initially } : purchasesSwitch.parse(Item);
};

/** What a write replaces is known by its `since` alone: the rest of the item may be unreadable. */
const replacedSwitch = z.object({ since: z.unknown().optional() });
const WRITES_MAX = 5;

/**
 * Sets the switch. Each write names what it replaces, so that one that lands late changes nothing that was set since.
 */
export const writePurchasesSwitch = async ({ db, table }: PurchasesStore, next: PurchasesSwitch): Promise<void> => {
  const key = { TableName: table, Key: { pk: PURCHASES_PK } };
  for (let left = WRITES_MAX - 1; ; left -= 1) {
    const { Item } = await db.send(new GetCommand({ ...key, ConsistentRead: true }));
    const { since } = replacedSwitch.parse(Item ?? {});
    const condition =
      since === undefined
        ? { ConditionExpression: "attribute_not_exists(since)" }
        : { ConditionExpression: "since = :since", ExpressionAttributeValues: { ":since": since } };
    try {
      await db.send(new PutCommand({ TableName: table, Item: { pk: PURCHASES_PK, ...next }, ...condition }));
      return;
    } catch (error) {
      // Another write came first.
      if (!(error instanceof ConditionalCheckFailedException) || left === 0) throw error;
    }
  }
};

/** The switch, as it was read at most 10 seconds ago. */
export type PurchasesGate = {
  /**
   * Throws if the switch cannot be read when the 10 seconds are over: an older reading could debit a ledger that is
   * being restored.
   */
  readonly purchases: () => Promise<OnOrOff>;
};

/** Why no order may be placed now; undefined if orders may be. */
export const refusalByGate = async (gate: PurchasesGate): Promise<ServiceError | undefined> => {
  try {
    const isOff = (await gate.purchases()) === "off";
    return isOff ? new ServiceError("provider_unavailable", { retryAfterS: 300 }) : undefined;
  } catch (error) {
    log.alarm("purchases.unreadable", errorFields(error));
    return new ServiceError("provider_unavailable", { retryAfterS: 5 });
  }
};
