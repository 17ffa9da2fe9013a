import type { UpdateCommandInput } from "@aws-sdk/lib-dynamodb";
import * as z from "#zod";
import { lazyObject } from "../contract/lazy-object.ts";
import type { RateGroup } from "../contract/limits.ts";
import { getItem } from "../ledger/get-item.ts";
import type { Table } from "../ledger/ledger.ts";
import { unlessRefused } from "../platform/aws/errors.ts";
import { cachePk } from "../platform/cache-keys.ts";
import type { Deadline } from "../platform/deadline.ts";
import { isoTime } from "../platform/time.ts";
import { isUnrecognized } from "../upstream/classify.ts";
import {
  type CheckOutcome,
  NO_TIME,
  ORDER_LIMITED,
  type Outcome,
  RATE_LIMITED,
  TURN_OVER,
} from "../upstream/upstream.ts";

/** Purchases or identity checks: a key may lack the permission for one of them. */
export type OrderGroup = Extract<RateGroup, "vtu" | "identity">;
const orderGroups = ["vtu", "identity"] as const satisfies readonly OrderGroup[];

export const upstreamRefusalPk = (group: OrderGroup): string => cachePk("upstream-refusal", group);

/**
 * Why the upstream accepts no order, if operators can fix it: our key, address or balance, the connection, or
 * something else that answers in its place. An item of the cache table for each group.
 */
export const upstreamRefusalSchema = lazyObject(() => ({
  pk: z.string(),
  reason: z.string(),
  /** The last order. */
  refused_at: z.iso.datetime(),
  /** The first order after the last accepted one. Absent once an order was accepted. */
  since: z.optional(z.iso.datetime()),
}));
export type UpstreamRefusal = z.output<typeof upstreamRefusalSchema>;

export type StandingRefusal = UpstreamRefusal & { readonly group: OrderGroup; readonly since: string };

/** What an order's outcome shows: the upstream accepts orders, or why it does not; undefined if it shows neither. */
export const acceptanceShownBy = (
  outcome: Outcome | CheckOutcome,
): { readonly isAccepted: true } | { readonly isAccepted: false; readonly reason: string } | undefined => {
  if (outcome.kind === "account_error") {
    const showsNeither = [RATE_LIMITED, ORDER_LIMITED, TURN_OVER, NO_TIME].includes(outcome.reason);
    return showsNeither ? undefined : { isAccepted: false, reason: outcome.reason };
  }
  if (outcome.kind !== "unknown" || outcome.reason === "processing") return { isAccepted: true };
  return isUnrecognized(outcome) ? { isAccepted: false, reason: outcome.reason } : undefined;
};

export type RefusalNotes = {
  /**
   * Notes for operators that the upstream refuses orders for a cause of ours, or that it accepts them again. Usually it
   * writes nothing. Never rejects, and leaves the time for the settlement.
   */
  readonly noteOutcome: (outcome: Outcome | CheckOutcome, deadline: Deadline) => Promise<void>;
};

export const noteRefusal = async (
  { db, table }: Table,
  group: OrderGroup,
  reason: string,
  nowMs: number,
  abortSignal: AbortSignal,
): Promise<void> => {
  const update: UpdateCommandInput = {
    TableName: table,
    Key: { pk: upstreamRefusalPk(group) },
    UpdateExpression: "SET reason = :reason, refused_at = :now, since = if_not_exists(since, :now)",
    ExpressionAttributeValues: { ":reason": reason, ":now": isoTime(nowMs) },
  };
  await db.update(update, { abortSignal });
};

/** Notes that an order was accepted after the refusal that was read. A later refusal stays. */
export const noteAcceptance = async (
  { db, table }: Table,
  { pk, refused_at }: UpstreamRefusal,
  abortSignal: AbortSignal,
): Promise<void> => {
  const update: UpdateCommandInput = {
    TableName: table,
    Key: { pk },
    UpdateExpression: "REMOVE since",
    ConditionExpression: "refused_at = :read",
    ExpressionAttributeValues: { ":read": refused_at },
  };
  await unlessRefused(db.update(update, { abortSignal }));
};

/** The refusals that no accepted order followed. */
export const readUpstreamRefusals = async (cache: Table): Promise<readonly StandingRefusal[]> => {
  const refusals = await Promise.all(
    orderGroups.map(async (group) => {
      const refusal = await getItem(cache, upstreamRefusalPk(group), upstreamRefusalSchema);
      return refusal?.since === undefined ? [] : [{ ...refusal, group, since: refusal.since }];
    }),
  );
  return refusals.flat();
};
