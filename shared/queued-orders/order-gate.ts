import * as z from "#zod";
import { HOUR_MS, MINUTE_MS } from "../contract/values/durations.ts";
import { getItemsByPk } from "../ledger/get-item.ts";
import {
  type OnOrOff,
  PARTS_PK,
  PURCHASES_PK,
  type PurchasesGate,
  type PurchasesStore,
  partsOff,
  purchasesSwitch,
} from "../orders/purchases-switch.ts";
import {
  acceptanceShownBy,
  noteAcceptance,
  noteRefusal,
  type OrderGroup,
  type RefusalNotes,
  type UpstreamRefusal,
  upstreamRefusalPk,
  upstreamRefusalSchema,
} from "../orders/upstream-refusal.ts";
import { abortAfter, beforeSettlementMs, type Deadline } from "../platform/deadline.ts";
import { errorFields, log } from "../platform/log.ts";
import { type Clock, isoTime, isRecent } from "../platform/time.ts";
import type { UpstreamBlocks } from "../upstream/upstream.ts";
import {
  blocksOf,
  NO_ORDERS_QUEUED,
  noteBlock,
  noteRecognized,
  UPSTREAM_PACE_PK,
  type UpstreamPace,
  upstreamPaceSchema,
} from "./upstream-pace.ts";

/** How long an instance of a function relies on one reading: an operator's change takes effect within this time. */
export const GATE_CACHE_MS = 10_000;
/** Age at which a reading raises an alarm: purchases may have been left off by mistake. */
const STILL_OFF_MS = HOUR_MS;

/** How often one instance notes refusals for the same reason. */
const REFUSAL_NOTED_MS = MINUTE_MS;
const NOTE_MS_MAX = 1_000;

/**
 * Whether orders may be placed, whether they must wait, and whether the upstream refuses them: four items, read
 * together and cached for 10 seconds.
 */
export type OrderGate = PurchasesGate &
  RefusalNotes & {
    /** As it was at the last reading. */
    readonly pace: () => UpstreamPace;
    /** Why purchases wait, by the last reading. */
    readonly blocks: () => UpstreamBlocks;
    /**
     * Tells the other instances what this one found out since it learned the blocks `before`. Usually it writes nothing.
     * Never rejects, and leaves the time for the settlement.
     */
    readonly noteBlocks: (blocks: UpstreamBlocks, before: UpstreamBlocks, deadline: Deadline) => Promise<void>;
  };

type Reading = {
  readonly purchases: OnOrOff;
  readonly off: readonly string[];
  readonly pace: UpstreamPace;
  readonly readAtMs: number;
};

const storedItem = z.looseObject({ pk: z.string() });

export const orderGate = (store: PurchasesStore, clock: Clock, group: OrderGroup): OrderGate => {
  let cached: Reading | undefined;
  /** No order was accepted after it. */
  let refusal: UpstreamRefusal | undefined;
  const refusalPk = upstreamRefusalPk(group);

  const noteOutcome: OrderGate["noteOutcome"] = async (outcome, deadline) => {
    const shown = acceptanceShownBy(outcome);
    const nowMs = clock();
    const signal = () => abortAfter(Math.min(NOTE_MS_MAX, beforeSettlementMs(deadline)));
    if (shown?.isAccepted && refusal !== undefined) {
      await noteAcceptance(store, refusal, signal());
      refusal = undefined;
    }
    if (shown === undefined || shown.isAccepted) return;
    const { reason } = shown;
    if (refusal?.reason === reason && isRecent(Date.parse(refusal.refused_at), REFUSAL_NOTED_MS, nowMs)) return;
    await noteRefusal(store, group, reason, nowMs, signal());
    refusal = { pk: refusalPk, reason, refused_at: isoTime(nowMs) };
  };

  const noteBlocks: OrderGate["noteBlocks"] = async ({ limitUntilMs, unrecognizedUntilMs }, before, deadline) => {
    const nowMs = clock();
    const signal = () => abortAfter(beforeSettlementMs(deadline));
    if (limitUntilMs > nowMs) await noteBlock(store, "limit_until", limitUntilMs, nowMs, signal());
    if (unrecognizedUntilMs > nowMs) await noteBlock(store, "unrecognized_until", unrecognizedUntilMs, nowMs, signal());
    if (unrecognizedUntilMs > 0 || before.unrecognizedUntilMs === 0) return;
    await noteRecognized(store, before.unrecognizedUntilMs, signal());
    // Otherwise each order would write it until the next reading.
    if (cached !== undefined && Date.parse(cached.pace.unrecognized_until) === before.unrecognizedUntilMs) {
      const { unrecognized_until } = NO_ORDERS_QUEUED;
      cached = { ...cached, pace: { ...cached.pace, unrecognized_until } };
    }
  };
  const read = async (nowMs: number): Promise<Reading> => {
    const pks = [PURCHASES_PK, PARTS_PK, UPSTREAM_PACE_PK, refusalPk];
    const stored = await getItemsByPk(store, pks, storedItem);
    const switchItem = stored.get(PURCHASES_PK);
    const { purchases, since } =
      switchItem === undefined ? { purchases: store.initially, since: undefined } : purchasesSwitch.parse(switchItem);
    const parts = partsOff.parse(stored.get(PARTS_PK)?.off ?? {});
    const off = Object.keys(parts);
    const paceItem = stored.get(UPSTREAM_PACE_PK);
    const pace = paceItem === undefined ? NO_ORDERS_QUEUED : upstreamPaceSchema.parse(paceItem);
    const refusalItem = stored.get(refusalPk);
    const refused = refusalItem && upstreamRefusalSchema.safeParse(refusalItem).data;
    refusal = refused?.since === undefined ? undefined : refused;
    const isLong = (from: string): boolean => nowMs - Date.parse(from) > STILL_OFF_MS;
    if (purchases === "off" && since !== undefined && isLong(since)) log.alarm("purchases.still_off", { since });
    for (const [part, item] of Object.entries(parts)) {
      const begun = z.pick(purchasesSwitch, { since: true }).safeParse(item).data?.since;
      if (begun !== undefined && isLong(begun)) log.alarm("purchases.part_still_off", { part, since: begun });
    }
    // The time before the read, so that a slow response does not prolong it.
    return { purchases, off, pace, readAtMs: nowMs };
  };
  return {
    purchases: async (parts = []) => {
      const nowMs = clock();
      if (cached === undefined || !isRecent(cached.readAtMs, GATE_CACHE_MS, nowMs)) cached = await read(nowMs);
      return cached.off.some((part) => parts.includes(part)) ? "off" : cached.purchases;
    },
    pace: () => cached?.pace ?? NO_ORDERS_QUEUED,
    blocks: () => blocksOf(cached?.pace ?? NO_ORDERS_QUEUED, clock()),
    noteBlocks: (blocks, before, deadline) =>
      noteBlocks(blocks, before, deadline).catch((error: unknown) =>
        log.warn("upstream_pace.not_noted", errorFields(error)),
      ),
    noteOutcome: (outcome, deadline) =>
      noteOutcome(outcome, deadline).catch((error: unknown) =>
        log.warn("upstream_refusal.not_noted", errorFields(error)),
      ),
  };
};
