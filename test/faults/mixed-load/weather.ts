import { queuedOrders } from "../../../shared/ledger/schema.ts";
import type { Fault as UpstreamFault } from "../../../tools/simulator/faults.ts";
import { LIMITED_RECIPIENT } from "../../../tools/simulator/fulfilment.ts";
import { now, pass } from "../system/clock.ts";
import { canHit, type Fault, freezeEffects } from "../system/effects.ts";
import { type BrownOutPlace, brownOutPlaces, meet } from "../system/realities.ts";
import { FREQUENT_RECIPIENT, type Load, type Traffic } from "./traffic.ts";

/** What happens to the calls of a brown-out, to each in its own way. */
const brownOutFaults = ["throttled", "never_arrives", "answer_lost", "lands_late"] as const satisfies readonly Fault[];
const deaths = ["dies_before", "dies_after", "dies_writing"] as const satisfies readonly Fault[];
/** Shares of all calls, and of all thaws with open connections. */
const DEATHS = 0.001;
const LOST_CONNECTIONS = 0.15;
const CLOCK_MS = { min: -3_000, max: 3_000 };
const LAG_MS_MAX = 240_000;
const LATE_MS = { min: 0, max: 300_000 };
/** How often something new may happen, and does. */
const TICK_MS = 10_000;
const CHANGES = 0.5;

const ofOrders = { kind: "custom", path: "/vtu", method: "POST", times: 1 } as const;
/** Answers of something before the upstream, after it carried out the order. */
const gateAnswer = (status: number, type: string, body: string): UpstreamFault => ({
  ...{ ...ofOrders, takes_order: true, status, body },
  headers: { "Content-Type": type },
});
const page = "<html><body><h1>Request blocked</h1></body></html>";
const gateAnswers: readonly UpstreamFault[] = [
  ...[400, 403, 404, 413, 502].map((status) => gateAnswer(status, "text/html", page)),
  gateAnswer(403, "application/json", ""),
  gateAnswer(404, "application/json", JSON.stringify({ error: "no such route", code: 17 })),
  gateAnswer(200, "text/html", page),
];

/** The upstream's limit refuses one order. */
export const limited = (retryAfter: string): UpstreamFault => ({
  ...{ ...ofOrders, status: 429 },
  headers: { "Content-Type": "application/json", "Retry-After": retryAfter, "X-RateLimit-Remaining": "0" },
  body: JSON.stringify({ status: false, message: "Too many requests." }),
});
export const oddRetryAfters = ["0", "86400", "-1", "Wed, 21 Oct 2026 07:28:00 GMT", "soon"] as const;

/** What begins, and ends after `forS` seconds. */
type Disturbance = { readonly begin: () => unknown; readonly forS: number; readonly end?: () => unknown };

/** Everything that may happen, each before any of it happens again, while faults hit calls. Returns what ends it. */
export const weather: Traffic["disturb"] = (load) => {
  const { system, chance } = load;
  let isCalm = false;
  const makers = disturbances(load, hitCalls(load));

  const active = new Set<Disturbance>();
  const endOf = (disturbance: Disturbance): void => {
    if (active.delete(disturbance)) disturbance.end?.();
  };
  const disturb = async (disturbance: Disturbance): Promise<void> => {
    active.add(disturbance);
    disturbance.begin();
    await pass(disturbance.forS * 1_000);
    endOf(disturbance);
  };
  const change = async (): Promise<void> => {
    let next: (() => Disturbance)[] = [];
    while (!isCalm) {
      await pass(TICK_MS);
      if (chance.happens(CHANGES)) {
        if (next.length === 0) next = chance.shuffled(makers);
        const make = next.pop();
        if (make !== undefined) void disturb(make());
      }
      await system.landLateWrites(chance.within(LATE_MS));
    }
  };
  void change();
  return async () => {
    isCalm = true;
    for (const disturbance of active) endOf(disturbance);
    system.weather = () => undefined;
    system.strict()?.calm();
    system.upstream.faults.clear();
    system.upstream.limitedRecipients.clear();
    for (const process of system.fleet.processes()) process.clockAheadMs = 0;
    await system.landLateWrites();
  };
};

/** The shares of the calls to a place that fail now. */
type BrownOuts = Map<BrownOutPlace, number>;

/** Kills, frozen connections and brown-outs. Returns the brown-outs, of which there are none yet. */
const hitCalls = ({ system, chance }: Load): BrownOuts => {
  const brownOuts: BrownOuts = new Map();
  system.weather = (effect) => {
    const { place } = effect;
    if (place === "thaw") return chance.happens(LOST_CONNECTIONS) ? chance.oneOf(freezeEffects) : undefined;
    const death = chance.happens(DEATHS) ? chance.oneOf(deaths) : undefined;
    if (death !== undefined && canHit(effect, death)) return death;
    if (place === "return" || !chance.happens(brownOuts.get(place) ?? 0)) return undefined;
    meet(`a brown-out of ${place}`);
    return chance.oneOf(brownOutFaults.filter((fault) => canHit(effect, fault)));
  };
  return brownOuts;
};

const disturbances = ({ system, chance, accounts }: Load, brownOuts: BrownOuts): readonly (() => Disturbance)[] => {
  const { fleet, upstream, eventSources } = system;
  const dynamodb = () => system.strict()?.dynamodb;
  const staleReads = (): number => dynamodb()?.counts.stale_read ?? 0;

  const brownOut = (place: BrownOutPlace) => (): Disturbance => {
    const share = chance.within({ min: 0.5, max: 0.9 });
    return {
      begin: () => {
        brownOuts.set(place, share);
        // Other processes have the secrets in memory.
        if (place === "secrets") fleet.end();
      },
      forS: chance.within({ min: 20, max: 60 }),
      end: () => brownOuts.delete(place),
    };
  };

  const lag = (): Disturbance => {
    const before = staleReads();
    return {
      begin: () => dynamodb()?.lagBy({ min: 0, max: LAG_MS_MAX }),
      forS: 60,
      end: () => {
        if (staleReads() > before) meet("an index that is minutes behind");
        dynamodb()?.lagBy({ min: 0, max: 2_000 });
      },
    };
  };

  const fullIndexKey = (): Disturbance => {
    const refusedBefore = dynamodb()?.fullKeyRefusals() ?? 0;
    const key = chance.oneOf(accounts.map(({ accountId }) => queuedOrders(accountId)));
    return {
      begin: () => {
        dynamodb()?.fillIndexKey(key);
        // So that an order of the account waits, and needs the key.
        upstream.faults.add(limited("60"));
      },
      forS: chance.within({ min: 90, max: 240 }),
      end: () => {
        if ((dynamodb()?.fullKeyRefusals() ?? 0) > refusedBefore) meet("a full index key");
        dynamodb()?.fillIndexKey(undefined);
      },
    };
  };

  const clocks = (): Disturbance => ({
    forS: 0,
    begin: () => {
      for (const process of fleet.processes()) {
        const aheadMs = Math.round(chance.within(CLOCK_MS));
        meet("clocks that differ");
        if (aheadMs < process.clockAheadMs) meet("a clock that steps back");
        process.clockAheadMs = aheadMs;
      }
    },
  });

  const mood = (faults: readonly UpstreamFault[], met: () => void) => (): Disturbance => {
    const fault = chance.oneOf(faults);
    let added: UpstreamFault | undefined;
    return {
      begin: () => {
        if (fault !== undefined) upstream.faults.add(fault);
        added = upstream.faults.list().at(-1);
      },
      forS: 300,
      end: () => {
        if (added !== undefined && !upstream.faults.list().includes(added)) met();
      },
    };
  };

  const limitedRecipient = (): Disturbance => {
    const sinceMs = now();
    return {
      begin: () => upstream.limitedRecipients.add(FREQUENT_RECIPIENT),
      forS: 180,
      end: () => {
        const isMet = upstream.requests.some(
          ({ outcome, at }) => outcome === LIMITED_RECIPIENT && Date.parse(at) > sinceMs,
        );
        if (isMet) meet("a 429 about one order");
        upstream.limitedRecipients.clear();
      },
    };
  };

  return [
    ...brownOutPlaces.map(brownOut),
    ...[lag, fullIndexKey, clocks, limitedRecipient],
    mood(gateAnswers, () => meet("an answer of a gate after the order")),
    mood(oddRetryAfters.map(limited), () => meet("an odd Retry-After")),
    () => ({ forS: 0, begin: () => Object.assign(fleet, { spread: chance.oneOf([1, 2, 4]) }) }),
    () => ({ forS: 0, begin: () => eventSources.reshard(chance.oneOf([1, 2, 3]) ?? 1) }),
    () => ({ forS: 0, begin: () => eventSources.addAgain("statistics") }),
  ];
};
