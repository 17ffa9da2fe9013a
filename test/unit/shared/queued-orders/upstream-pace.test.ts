import { describe, expect, test } from "vitest";
import { isoTime } from "../../../../shared/platform/time.ts";
import {
  blocksOf,
  estimatedDeliveryS,
  NO_ORDERS_QUEUED,
  queueUntilMs,
  sendingS,
  type UpstreamPace,
} from "../../../../shared/queued-orders/upstream-pace.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";

/** A time this many seconds after noon. */
const at = (seconds: number): string => isoTime(NOON_MS + seconds * 1_000);

const estimate = (pace: Partial<UpstreamPace>, { limitS = 0, ahead = 0 } = {}): number =>
  estimatedDeliveryS({ ...NO_ORDERS_QUEUED, ...pace }, { nowMs: NOON_MS, limitS, ahead });

test("orders wait until the limit is free and the queue is sent", () => {
  const until = (pace: Partial<UpstreamPace>): string =>
    isoTime(queueUntilMs({ ...NO_ORDERS_QUEUED, ...pace }, NOON_MS));
  expect(until({ limit_until: at(9) })).toBe(at(9));
  expect(until({ limit_until: at(9), queue_until: at(10) })).toBe(at(10));
  expect(until({ limit_until: at(9), unrecognized_until: at(11), queue_until: at(10) })).toBe(at(11));
});

test("a block that ends more than a minute and 10 seconds of clock difference from now counts as none", () => {
  const blocks = (seconds: number) => {
    const { limitUntilMs, unrecognizedUntilMs } = blocksOf(
      { ...NO_ORDERS_QUEUED, limit_until: at(seconds), unrecognized_until: at(seconds) },
      NOON_MS,
    );
    return [limitUntilMs, unrecognizedUntilMs];
  };
  expect(blocks(70)).toEqual([NOON_MS + 70_000, NOON_MS + 70_000]);
  expect(blocks(71)).toEqual([0, 0]);
});

test("sending this many orders takes a minute for each per_minute of them", () => {
  expect([sendingS(1, { per_minute: 60 }), sendingS(90, { per_minute: 60 }), sendingS(1, { per_minute: 120 })]).toEqual(
    [1, 90, 1],
  );
});

describe("the estimate of an order that begins to wait", () => {
  test.each<readonly [string, Partial<UpstreamPace>, { limitS?: number; ahead?: number }, number]>([
    ["the next run is known", { next_run: at(20) }, {}, 21],
    ["the next run is known to begin now", { next_run: at(0) }, {}, 1],
    ["the last known run was a while ago: runs go on each minute", { next_run: at(-70) }, {}, 51],
    ["the last known run was 10 minutes ago: a run may have just begun", { next_run: at(-600) }, {}, 61],
    ["the schedule was never known", {}, {}, 61],
    ["the limit is free before the next run", { next_run: at(20) }, { limitS: 15 }, 21],
    ["the limit is free within the next run", { next_run: at(20) }, { limitS: 44 }, 45],
    ["the limit is free once the next run has ended: the one after it", { next_run: at(20) }, { limitS: 45 }, 81],
    ["another instance has noted the limit", { next_run: at(20), limit_until: at(44) }, {}, 45],
    ["the longer of both limits counts", { next_run: at(20), limit_until: at(30) }, { limitS: 40 }, 41],
    ["other accounts wait", { next_run: at(20), queued_orders: 90 }, {}, 111],
    ["more of its own account are ahead than were counted", { next_run: at(20), queued_orders: 3 }, { ahead: 9 }, 30],
    ["the upstream takes more", { next_run: at(20), queued_orders: 119, per_minute: 120 }, {}, 80],
  ])("if %s", (_name, pace, known, seconds) => {
    expect(estimate(pace, known)).toBe(seconds);
  });
});
