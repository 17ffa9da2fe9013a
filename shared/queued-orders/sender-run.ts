import type { CatalogMemory } from "../catalog/catalog-memory.ts";
import type { PlanIndex } from "../catalog/plan-index.ts";
import type { Ledger, Table } from "../ledger/ledger.ts";
import type { settleAsRead } from "../ledger/settle-transaction.ts";
import type { UpstreamCosts } from "../ledger/upstream-costs.ts";
import type { OutcomeQueue } from "../orders/outcome-queue.ts";
import type { Deadline } from "../platform/deadline.ts";
import type { LiveUpstream } from "../upstream/live-upstream.ts";
import type { OrderGate } from "./order-gate.ts";

export type SenderDeps = {
  readonly ledger: Ledger;
  readonly cache: Table;
  readonly outcomeQueue: OutcomeQueue;
  readonly gate: OrderGate;
  readonly catalog: CatalogMemory;
  readonly upstream: LiveUpstream;
  readonly costs: UpstreamCosts;
  readonly queueMinutes: number;
};

/** One run of the sender of queued orders. */
export type Run = {
  readonly deps: SenderDeps;
  readonly deadline: Deadline;
  /** Until when a turn may begin. */
  readonly lastTurn: Deadline;
  readonly plans: PlanIndex | undefined;
  /** Does not settle an order that was claimed since it was read: it may be on its way upstream. */
  readonly settle: typeof settleAsRead;
  /** Accounts of which no further order is ended in this run: a write that ends one got no answer, and took long. */
  readonly notWritten: Set<string>;
};

export type TurnResult =
  | "sent"
  | "refunded"
  | "unchanged"
  /** The write that ends the order got no conclusive answer. */
  | "not_written";
