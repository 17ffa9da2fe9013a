import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import { type Account, accountSchema } from "../../../shared/access/account-store.ts";
import { earlierEnd } from "../../../shared/access/key-item.ts";
import { ledgerEntrySchema } from "../../../shared/ledger/ledger-entry.ts";
import { itemKindOf, type LedgerItemKind } from "../../../shared/ledger/schema.ts";
import { isFinalStatus, signedKobo, transactionSchema } from "../../../shared/ledger/transaction.ts";
import { storedEventSchema } from "../../../shared/upstream-events/stored-event.ts";
import type { Item } from "../table-scan.ts";

/** A condition under which an item may be put in the place of the one that was read. */
export type Condition = {
  readonly expression: string;
  readonly names?: Readonly<Record<string, string>>;
  readonly values: Readonly<Record<string, unknown>>;
};

/** What becomes of one item of the old ledger. */
export type Step =
  /** The new ledger lacks it. */
  | { readonly kind: "copy" }
  /** The new ledger has it, at an earlier stage. */
  | { readonly kind: "update"; readonly item: Item; readonly when: Condition; readonly note?: string }
  /** The new ledger has it, at this stage or a later one. */
  | { readonly kind: "present"; readonly note?: string }
  /** The two contradict each other: nothing is written, and the operator decides. */
  | { readonly kind: "differs"; readonly fields: readonly string[] }
  /** It is not what its key says that it is. */
  | { readonly kind: "unreadable" };

/** Compares an item of the old ledger with the one under its key in the new one. */
type Compare = (old: Item, here: Item | undefined) => Step;

/** What the ledger keeps, by the word that begins its keys. */
export type ItemKind = {
  readonly name: string;
  /** Absent for what is not carried over, because the service makes it anew from the rest. */
  readonly compare?: Compare;
};

const differing = (one: Item, other: Item, fields: readonly string[]): readonly string[] =>
  fields.filter((field) => !isDeepStrictEqual(one[field], other[field]));

/** Parses both, and compares what came of it beside the items themselves. */
const compareWith =
  <Row>(
    schema: z.ZodType<Row>,
    merge: (rows: { readonly old: Row; readonly here: Row }, old: Item, here: Item) => Step,
  ): Compare =>
  (old, here) => {
    const read = schema.safeParse(old).data;
    if (read === undefined) return { kind: "unreadable" };
    if (here === undefined) return { kind: "copy" };
    const readHere = schema.safeParse(here).data;
    return readHere === undefined
      ? { kind: "differs", fields: ["all"] }
      : merge({ old: read, here: readHere }, old, here);
  };

/** What never changes once it is written. */
const compareImmutable = (schema: z.ZodType = z.unknown()): Compare =>
  compareWith(schema, (_rows, old, here) => {
    const fields = differing(old, here, [...new Set([...Object.keys(old), ...Object.keys(here)])]);
    return fields.length === 0 ? { kind: "present" } : { kind: "differs", fields };
  });

/** These say that it is the same order by the same request. */
const ORDER_FIELDS = [
  ...["owner", "account_id", "mode", "type", "attempt", "fingerprint", "caller_reference", "amount_kobo", "created_at"],
];
const OUTCOME_FIELDS = ["status", "upstream_reference", "upstream_amount_kobo", "failure"];

/** Forward only: an open transaction takes its end and the upstream's facts from the old ledger; one that has ended stays. */
const compareTransaction = compareWith(transactionSchema, (rows, old, here): Step => {
  const otherOrder = differing(old, here, ORDER_FIELDS);
  if (otherOrder.length > 0) return { kind: "differs", fields: otherOrder };
  const fields = differing(old, here, OUTCOME_FIELDS);
  if (fields.length === 0) return { kind: "present" };
  if (isFinalStatus(rows.here.status))
    return isFinalStatus(rows.old.status) ? { kind: "differs", fields } : { kind: "present" };
  const name = rows.here.upstream_reference;
  if (name !== undefined && name !== rows.old.upstream_reference) {
    return { kind: "differs", fields: ["upstream_reference"] };
  }
  return {
    kind: "update",
    item: old,
    when: {
      expression: `#status = :processing AND attempt = :attempt AND ${
        name === undefined ? "attribute_not_exists(upstream_reference)" : "upstream_reference = :name"
      }`,
      names: { "#status": "status" },
      values: {
        ":processing": "processing",
        ":attempt": rows.here.attempt,
        ...(name !== undefined && { ":name": name }),
      },
    },
  };
});

type Key = Account["keys"][number];

const mergeKeys = (one: Key, other: Key | undefined): Key => {
  if (other === undefined) return one;
  const expiresAt = earlierEnd(one.expires_at, other.expires_at);
  const isRevoked = one.status === "revoked" || other.status === "revoked";
  return {
    ...one,
    status: isRevoked ? "revoked" : "active",
    ...(expiresAt !== undefined && { expires_at: expiresAt }),
  };
};

/** Every key of both, revoked where one says so, and ending when the first of both does. */
const mergeKeyLists = (here: Account, old: Account): Key[] => {
  const known = new Set(here.keys.map(({ key_id }) => key_id));
  return [
    ...here.keys.map((key) =>
      mergeKeys(
        key,
        old.keys.find(({ key_id }) => key_id === key.key_id),
      ),
    ),
    ...old.keys.filter(({ key_id }) => !known.has(key_id)),
  ];
};

/** Addresses, name and webhook as they were changed last; keys and restriction as the stricter of the two says. */
const compareAccount = compareWith(accountSchema, (rows, old, here): Step => {
  const isNewer = rows.old.version > rows.here.version;
  const isRestricted = rows.old.status === "restricted" || rows.here.status === "restricted";
  const merged = {
    ...(isNewer ? old : here),
    status: isRestricted ? "restricted" : "active",
    keys: mergeKeyLists(rows.here, rows.old),
  };
  const note =
    rows.old.status === rows.here.status
      ? {}
      : { note: `${rows.here.account_id} is restricted in one ledger, and stays so` };
  if (isDeepStrictEqual({ ...merged, version: 0 }, { ...here, version: 0 })) return { kind: "present", ...note };
  return {
    kind: "update",
    item: { ...merged, version: Math.max(rows.old.version, rows.here.version) + 1 },
    when: { expression: "version = :read", values: { ":read": rows.here.version } },
    ...note,
  };
});

const walletSchema = z.object({ account_id: z.string(), low_balance_threshold_kobo: z.int().optional() });

/** Balances are not compared: they are computed anew from what moved them. */
const compareWallet = compareWith(walletSchema, (_rows, old, here): Step => {
  const isSame = differing(old, here, ["low_balance_threshold_kobo"]).length === 0;
  return isSame
    ? { kind: "present" }
    : { kind: "present", note: `${old.pk} has another low_balance_threshold_kobo there` };
});

/** The operator's decision about an event stands once it was taken. */
const compareEvent = compareWith(storedEventSchema, (rows, old, here): Step => {
  const fields = differing(old, here, ["state", "transaction"]);
  if (fields.length === 0 || rows.old.state === "open") return { kind: "present" };
  if (rows.here.state !== "open") return { kind: "differs", fields };
  const when = { expression: "#state = :open", names: { "#state": "state" }, values: { ":open": "open" } };
  return { kind: "update", item: old, when };
});

const deliverySchema = z.object({ state: z.string(), attempts: z.array(z.unknown()) });

/** Attempts are only ever added, and a state that is not `pending` is final. */
const compareDelivery = compareWith(deliverySchema, (rows, old): Step => {
  const isFurther = rows.old.state !== "pending" || rows.old.attempts.length > rows.here.attempts.length;
  if (rows.here.state !== "pending" || !isFurther) return { kind: "present" };
  return {
    kind: "update",
    item: old,
    when: {
      expression: "#state = :pending AND size(attempts) = :attempts",
      names: { "#state": "state" },
      values: { ":pending": "pending", ":attempts": rows.here.attempts.length },
    },
  };
});

/** Every kind of item that a ledger has. Whatever is not listed here is reported and not carried over. */
const kinds: Readonly<Record<LedgerItemKind, ItemKind>> = {
  account: { name: "accounts", compare: compareAccount },
  wallet: { name: "wallets", compare: compareWallet },
  transaction: { name: "transactions", compare: compareTransaction },
  consent: { name: "consents", compare: compareImmutable() },
  name: { name: "upstream references", compare: compareImmutable(z.object({ transaction: z.string() })) },
  funding: { name: "fundings", compare: compareImmutable(ledgerEntrySchema) },
  adjustment: { name: "adjustments", compare: compareImmutable(ledgerEntrySchema) },
  event: { name: "events", compare: compareEvent },
  delivery: { name: "deliveries", compare: compareDelivery },
  audit: { name: "audit", compare: compareImmutable() },
  // The next proof of a wallet makes a new one.
  proof: { name: "proofs" },
  // The restored ledger's own progress is that of its items: a later one would leave out what is not masked in it.
  "phone-retention": { name: "phone retention" },
};

export const kindOf = (pk: string): ItemKind | undefined => {
  const kind = itemKindOf(pk);
  return kind && kinds[kind];
};

/** Something that moved a wallet: kobo, signed. */
export type BalanceChange = {
  readonly accountId: string;
  readonly at: string;
  readonly kobo: number;
  readonly isOpen: boolean;
};

const liveTransaction = transactionSchema.pick({ account_id: true, status: true, amount_kobo: true, created_at: true });
const entry = ledgerEntrySchema.pick({ account_id: true, amount_kobo: true, created_at: true });

/** The attributes that the function below reads. */
export const balanceChangeProjection = {
  ProjectionExpression: "pk, account_id, #mode, #status, amount_kobo, created_at",
  ExpressionAttributeNames: { "#mode": "mode", "#status": "status" },
};

/** What an item means for its account's balance; undefined for what moves none. */
export const balanceChangeOf = (item: Item): BalanceChange | undefined => {
  const kind = itemKindOf(item.pk);
  if (kind === "funding" || kind === "adjustment") {
    const { account_id, amount_kobo, created_at } = entry.parse(item);
    return { accountId: account_id, at: created_at, kobo: amount_kobo, isOpen: false };
  }
  if (kind !== "transaction" || item.mode !== "live") return undefined;
  const { account_id, amount_kobo, status, created_at } = liveTransaction.parse(item);
  return {
    accountId: account_id,
    at: created_at,
    kobo: signedKobo({ status, amount_kobo }),
    isOpen: status === "processing",
  };
};
