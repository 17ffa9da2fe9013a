import { RECENT_HOURS, type upstreamActions } from "../contract/actions/upstream.ts";
import { HOUR_MS } from "../contract/values/durations.ts";
import { SERVICE } from "../ledger/audit.ts";
import { openOrders } from "../ledger/find-transactions.ts";
import { ALL_TIMES } from "../ledger/query-index.ts";
import { isStuck, sentAt } from "../ledger/transaction.ts";
import { OperatorError } from "../platform/operator-error.ts";
import { orNull } from "../platform/or-null.ts";
import { isoTime } from "../platform/time.ts";
import { readQueueLength } from "../queued-orders/queued-orders-report.ts";
import { queueUntilMs, readUpstreamPace } from "../queued-orders/upstream-pace.ts";
import { LATENCY_BOUNDS_MS, readHours, sumOfCounts } from "../statistics/hourly-counts.ts";
import { probeUpstream } from "../upstream/probe.ts";
import { recordAudited } from "./action-context.ts";
import type { ActionRuns } from "./action-runs.ts";
import { standingRefusals } from "./doctor-checks.ts";
import { endedCountView } from "./statistics.ts";

const RECENT_MS = (RECENT_HOURS - 1) * HOUR_MS;

export const upstreamRuns: ActionRuns<typeof upstreamActions> = {
  "upstream probe": async (context, { why }) => {
    const { baseUrl, profile, testKey: stored } = context.probe;
    const testKey = await stored.value();
    if (testKey === undefined) {
      throw new OperatorError("The secret upstream-test-key is not set", {
        command: "Run secrets set upstream-test-key",
      });
    }
    await recordAudited(context, SERVICE, { action: "upstream probe", why });
    const { checks, findings, proposed } = await probeUpstream({ baseUrl, profile, testKey });
    return {
      ok: findings.length === 0,
      checks: [...checks],
      findings: [...findings],
      proposed: proposed === undefined ? null : JSON.stringify(proposed),
    };
  },
  "upstream show": async (context) => {
    const { catalog, ledger, purchases: cache } = context;
    const nowMs = ledger.clock();
    const [snapshot, refusals, pace, waiting, open, hours] = await Promise.all([
      catalog.read(),
      standingRefusals(context),
      readUpstreamPace(cache),
      readQueueLength(context),
      openOrders(ledger, ALL_TIMES),
      readHours(cache, nowMs - RECENT_MS, nowMs),
    ]);
    const spentUntilMs = queueUntilMs(pace, nowMs);
    const sent = open.map(sentAt).sort();
    return {
      catalog: { fetched_at: orNull(snapshot?.fetchedAtMs, isoTime) },
      refusals: refusals.map(({ group, reason, since, refused_at }) => ({ group, reason, since, refused_at })),
      limit: { per_minute: pace.per_minute, spent_until: spentUntilMs > nowMs ? isoTime(spentUntilMs) : null },
      waiting: { count: waiting.count, oldest_s: waiting.oldestS ?? null, sending_s: waiting.sendingS ?? null },
      open: {
        count: open.length,
        stuck: open.filter((order) => isStuck(order, nowMs)).length,
        oldest_at: sent[0] ?? null,
      },
      recent: {
        latency_bounds_ms: [...LATENCY_BOUNDS_MS],
        counts: sumOfCounts(hours.flatMap(({ counts }) => counts)).map(endedCountView),
      },
    };
  },
};
