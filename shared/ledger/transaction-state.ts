import type { FinalStatus } from "../contract/final-status.ts";
import { isoTime } from "../platform/time.ts";
import type { Ledger } from "./ledger.ts";
import { openList, QUEUED, queuedOrders } from "./schema.ts";
import type { Transaction } from "./transaction.ts";
import { returned, setParts, type UpdateParts, updateOf } from "./update-parts.ts";

/** `success` and `failed` are final; in all other states the stored status is `processing`. */
export type TransactionState = "sent" | "queued" | "set_aside" | "claimed" | "success" | "failed";

/** The state of a stored transaction. */
export const stateOf = ({
  status,
  queued,
  claim,
}: Pick<Transaction, "status" | "queued" | "claim">): TransactionState => {
  if (status !== "processing") return status;
  if (queued !== undefined) return queued.number === undefined ? "set_aside" : "queued";
  return claim === undefined ? "sent" : "claimed";
};

/** An edge between states. The texts are those of docs/architecture.md. */
export type Transition = {
  /** None if there is no transaction yet. All of them have the attribute `queued`, or none has it. */
  readonly from: readonly TransactionState[];
  readonly to: TransactionState;
  readonly event: string;
  readonly condition: string;
  /** What else is in the same write. */
  readonly write: string;
};

/** Every change of a transaction's state. */
export const transitions = {
  debit: {
    from: [],
    to: "sent",
    event: "debit",
    condition:
      "the wallet holds enough and is not restricted, a daily quota is not used up, no limit is passed; an order that is sent at once: no other one of its account is queued",
    write: "balance -= amount",
  },
  void: {
    from: [],
    to: "failed",
    event: "a debit without an answer, or a cancellation",
    condition: "",
    write: "",
  },
  queue: {
    from: ["sent", "claimed"],
    to: "queued",
    event: "429, or not sent",
    condition: "it was not claimed again; one that was claimed and not sent: no later order was claimed",
    write: "its number enters the wallet's queue",
  },
  setAside: {
    from: ["sent", "claimed"],
    to: "set_aside",
    event: "429 about this order",
    condition: "it was not claimed again",
    write: "",
  },
  claim: {
    from: ["queued", "set_aside"],
    to: "claimed",
    event: "its turn, before it is sent",
    condition: "it was not claimed by another run, the wallet's queue is as read, the wallet is not restricted",
    write: "its number leaves the wallet's queue",
  },
  succeed: { from: ["sent", "claimed"], to: "success", event: "delivered", condition: "", write: "" },
  fail: { from: ["sent", "claimed"], to: "failed", event: "not delivered", condition: "", write: "balance += amount" },
  succeedQueued: {
    from: ["queued", "set_aside"],
    to: "success",
    event: "an event under our own reference",
    condition: "",
    write: "its number leaves the wallet's queue",
  },
  failQueued: {
    from: ["queued", "set_aside"],
    to: "failed",
    event: "too old, plan withdrawn, for another upstream, refused too often, or an operator",
    condition: "",
    write: "balance += amount, its number leaves the wallet's queue",
  },
} as const satisfies Record<string, Transition>;

/** A change of a stored transaction; without `to` its state stays. */
type Change = Pick<Transition, "from"> & { readonly to?: TransactionState };

/** The change by which a settlement gives a transaction this status. */
export const settlingTransition = (status: Transaction["status"], waits: boolean): Change => {
  if (status === "success") return waits ? transitions.succeedQueued : transitions.succeed;
  if (status === "failed") return waits ? transitions.failQueued : transitions.fail;
  return { from: waits ? transitions.claim.from : transitions.succeed.from };
};

const isFinal = (state: TransactionState): state is FinalStatus => state === "success" || state === "failed";
const isQueued = (state: TransactionState): boolean => state === "queued" || state === "set_aside";
const statusIn = (state: TransactionState): Transaction["status"] => (isFinal(state) ? state : "processing");

/** Puts a transaction, unless its key has one: one part of a transaction of writes, or a write of its own. */
export const transactionPut = (
  { table }: Pick<Ledger, "table">,
  { to }: typeof transitions.debit | typeof transitions.void,
  { open, listed_at, ...transaction }: Transaction,
) => {
  const Item: Transaction = {
    ...transaction,
    ...(!isFinal(to) && { open, listed_at }),
    status: statusIn(to),
  };
  return { Put: { TableName: table, Item, ConditionExpression: "attribute_not_exists(pk)", ...returned } };
};

/** Which claim was the order's last one, as a condition. */
export const claimIs = (claim: string | undefined): UpdateParts =>
  claim === undefined
    ? { conditions: ["attribute_not_exists(claim)"] }
    : { conditions: ["claim = :last_claim"], values: { ":last_claim": claim } };

/**
 * Changes a stored transaction by a transition, or within its state if `to` is absent: one part of a transaction of
 * writes, or a write of its own. The write token and `mode` make sure that it is the one that was read.
 */
export const transactionUpdate = (
  { table, clock }: Ledger,
  { pk, account_id, mode, write_token }: Pick<Transaction, "pk" | "account_id" | "mode" | "write_token">,
  { from, to }: Change,
  set: Partial<Transaction>,
  ...requirements: readonly UpdateParts[]
) => {
  const attributes = {
    ...(to !== undefined && { status: statusIn(to), open: listIn(to, { pk, account_id }) }),
    updated_at: isoTime(clock()),
    ...set,
  };
  const removed = to === undefined || isQueued(to) ? [] : [...(isFinal(to) ? ["open", "listed_at"] : []), "queued"];
  const isAsRead = {
    conditions: [
      "#status = :processing AND #mode = :mode AND write_token = :write_token",
      from.some(isQueued) ? "attribute_exists(queued)" : "attribute_not_exists(queued)",
    ],
    names: { "#status": "status", "#mode": "mode" },
    values: { ":processing": "processing", ":mode": mode, ":write_token": write_token },
  };
  const update = updateOf(setParts(attributes, removed), isAsRead, ...requirements);
  return { Update: { TableName: table, Key: { pk }, ...update, ...returned } };
};

/** The list of open transactions that has one in this state. */
const listIn = (state: TransactionState, transaction: Pick<Transaction, "pk" | "account_id">): string | undefined => {
  if (isFinal(state)) return undefined;
  if (state === "queued") return queuedOrders(transaction.account_id);
  return state === "set_aside" ? QUEUED : openList(transaction);
};
