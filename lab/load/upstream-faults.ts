import type { Fault } from "../../tools/simulator/faults.ts";

/** A magic number that selects an outcome at the upstream, or a fault that the next order there triggers. */
export type UpstreamFault = { readonly phoneNumber: string } | { readonly fault: Fault };

/** One order in 20: 5 %. */
const EVERY = 20;
const path = "/vtu/";
const times = 1;

const usual: readonly UpstreamFault[] = [
  // Processing, and settled later by an event.
  { phoneNumber: "08000000002" },
  { phoneNumber: "08000000003" },
  // Delivered at once, with two events.
  { phoneNumber: "08000000008" },
  // 502; 400, because the upstream's own balance is empty; 503.
  { phoneNumber: "08000000001" },
  { phoneNumber: "08000000005" },
  { phoneNumber: "08000000006" },
  // Processed, and the response lost or malformed.
  { fault: { kind: "drop_after_order", path, times } },
  { fault: { kind: "status", status: 500, takes_order: true, path, times } },
  { fault: { kind: "html", takes_order: true, path, times } },
  { fault: { kind: "empty", takes_order: true, path, times } },
  // Not processed, and the response lost or malformed.
  { fault: { kind: "drop_before_reading", path, times } },
  { fault: { kind: "status", status: 500, path, times } },
  { fault: { kind: "html", path, times } },
  // Rejected or delayed.
  { fault: { kind: "rate_limited", retry_after_s: 0, path, times } },
  { fault: { kind: "status", status: 401, path, times } },
  { fault: { kind: "status", status: 400, path, times } },
  { fault: { kind: "delay", delay_ms: 700, path, times } },
];

/** They delay one order for 20 s or every order for 1 s, so that a long run has only a few. */
const rare: readonly UpstreamFault[] = [
  { phoneNumber: "08000000007" },
  { fault: { kind: "rate_limited", retry_after_s: 1, path, times } },
];
const RARE_EVERY = 60;

/** The fault of the order with this number, if any. */
export const upstreamFaultOf = (index: number): UpstreamFault | undefined => {
  if (index % EVERY !== EVERY - 1) return undefined;
  const turn = Math.floor(index / EVERY);
  if (turn % RARE_EVERY === RARE_EVERY - 1) return rare[Math.floor(turn / RARE_EVERY) % rare.length];
  return usual[turn % usual.length];
};
