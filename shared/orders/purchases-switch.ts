import * as z from "#zod";
import { ServiceError } from "../contract/errors.ts";
import { lazyObject } from "../contract/lazy-object.ts";
import type { Table } from "../ledger/ledger.ts";
import { ifVersion, putIf } from "../ledger/put-if.ts";
import { cachePk } from "../platform/cache-keys.ts";
import { errorFields, log } from "../platform/log.ts";

export type OnOrOff = "on" | "off";

export const PURCHASES_PK = cachePk("purchases");

/** Who switched purchases on or off, when and why. */
export const purchasesSwitch = lazyObject(() => ({
  purchases: z.enum(["on", "off"]),
  since: z.iso.datetime(),
  by: z.string(),
  /** On AWS, the identity that AWS STS gave for the operator's credentials. */
  caller_arn: z.optional(z.string()),
  why: z.optional(z.string()),
}));
export type PurchasesSwitch = z.output<typeof purchasesSwitch>;
/** Only `purchases` is known where the switch was never used. */
export type PurchasesState = Pick<PurchasesSwitch, "purchases"> & Partial<PurchasesSwitch>;

/**
 * Where the switch is kept: an item of the cache table, which is never restored or adopted, so that a restore of the
 * other tables brings no earlier switch back. `initially` holds until an operator uses the switch for the first time.
 */
export type PurchasesStore = Table & { readonly initially: OnOrOff };

export const PARTS_PK = cachePk("purchases-parts");

/** The kinds of orders that can be switched off beside the whole; a network can, by its code. */
export const orderKinds = ["data", "airtime", "identity"] as const;

/** The parts that are off, by their names, which are all that an order needs of them. */
export const partsOff = z.record(z.string(), z.unknown());

type SwitchedPart = Omit<PurchasesSwitch, "purchases">;

/** `version` counts the changes. */
export const partsSchema = lazyObject(() => ({
  version: z.int().check(z.minimum(0)),
  off: z.record(z.string(), z.omit(purchasesSwitch, { purchases: true })),
}));
type Parts = z.output<typeof partsSchema>;

export const readParts = async ({ db, table }: Table): Promise<Parts> => {
  const { Item } = await db.get({ TableName: table, Key: { pk: PARTS_PK }, ConsistentRead: true });
  return Item === undefined ? { version: 0, off: {} } : partsSchema.parse(Item);
};

/** Two people rarely switch at once. */
const ATTEMPTS_MAX = 5;
const KEEPS_CHANGING = "The switch of purchases keeps changing";

/** Switches a part on or off; the others stay as they are. Resolves with whether that changed it. */
export const writePart = async (store: Table, part: string, next: SwitchedPart, to: OnOrOff): Promise<boolean> => {
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    const { version, off } = await readParts(store);
    if (Object.hasOwn(off, part) === (to === "off")) return false;
    const { [part]: _replaced, ...others } = off;
    const Item: Parts & { readonly pk: string } = {
      pk: PARTS_PK,
      version: version + 1,
      off: to === "off" ? { ...others, [part]: next } : others,
    };
    if (await putIf(store, Item, ifVersion(version))) return true;
  }
  throw new Error(KEEPS_CHANGING);
};

export const readPurchasesSwitch = async ({ db, table, initially }: PurchasesStore): Promise<PurchasesState> => {
  const { Item } = await db.get({ TableName: table, Key: { pk: PURCHASES_PK }, ConsistentRead: true });
  return Item === undefined ? { purchases: initially } : purchasesSwitch.parse(Item);
};

/** What a write replaces is known by its `since` alone: the rest of the item may be unreadable. */
const replacedSwitch = z.object({ since: z.optional(z.unknown()) });

/**
 * Sets the switch. Each write names what it replaces, so that one that lands late changes nothing that was set since.
 */
export const writePurchasesSwitch = async (store: Table, next: PurchasesSwitch): Promise<void> => {
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    const { Item } = await store.db.get({ TableName: store.table, Key: { pk: PURCHASES_PK }, ConsistentRead: true });
    const { since } = replacedSwitch.parse(Item ?? {});
    const condition =
      since === undefined
        ? { ConditionExpression: "attribute_not_exists(since)" }
        : { ConditionExpression: "since = :since", ExpressionAttributeValues: { ":since": since } };
    if (await putIf(store, { pk: PURCHASES_PK, ...next }, condition)) return;
  }
  throw new Error(KEEPS_CHANGING);
};

/** The switch, as it was read at most 10 seconds ago. */
export type PurchasesGate = {
  /**
   * Of the whole, or of an order that belongs to these parts. Throws if the switch cannot be read when the 10 seconds are
   * over: an older reading could debit a ledger that is being restored.
   */
  readonly purchases: (parts?: readonly (string | undefined)[]) => Promise<OnOrOff>;
};

/** Why no order that belongs to these parts may be placed now; undefined if one may be. */
export const refusalByGate = async (
  gate: PurchasesGate,
  parts?: readonly (string | undefined)[],
): Promise<ServiceError | undefined> => {
  try {
    const isOff = (await gate.purchases(parts)) === "off";
    return isOff ? new ServiceError("provider_unavailable", { retryAfterS: 300 }) : undefined;
  } catch (error) {
    log.alarm("purchases.unreadable", errorFields(error));
    return new ServiceError("provider_unavailable", { retryAfterS: 5 });
  }
};
