import type { Fault } from "../../tools/simulator/faults.ts";

/** What an order meets at the upstream: a number that stands for an outcome, or a fault that the next order there runs into. */
export type Trouble = { readonly phoneNumber: string } | { readonly fault: Fault };

/** One order in so many meets trouble: 5 %. */
const EVERY = 20;
const path = "/vtu/";
const times = 1;

const usual: readonly Trouble[] = [
  // Taken, and ended later by an event.
  { phoneNumber: "08000000002" },
  { phoneNumber: "08000000003" },
  // Delivered at once, and announced twice all the same.
  { phoneNumber: "08000000008" },
  // Answered 502, whatever that means; the upstream's own balance is empty; 503.
  { phoneNumber: "08000000001" },
  { phoneNumber: "08000000005" },
  { phoneNumber: "08000000006" },
  // Carried out, and the answer lost or garbled.
  { fault: { kind: "drop_after_order", path, times } },
  { fault: { kind: "status", status: 500, takes_order: true, path, times } },
  { fault: { kind: "html", takes_order: true, path, times } },
  { fault: { kind: "empty", takes_order: true, path, times } },
  // The same, and not carried out.
  { fault: { kind: "drop_before_reading", path, times } },
  { fault: { kind: "status", status: 500, path, times } },
  { fault: { kind: "html", path, times } },
  // Refused.
  { fault: { kind: "rate_limited", retry_after_s: 0, path, times } },
  { fault: { kind: "unauthorized", path, times } },
  { fault: { kind: "status", status: 400, path, times } },
  { fault: { kind: "delay", delay_ms: 700, path, times } },
];

/** These hold up an order for 20 s, or every order for a second: a few in a long run. */
const rare: readonly Trouble[] = [
  { phoneNumber: "08000000007" },
  { fault: { kind: "rate_limited", retry_after_s: 1, path, times } },
];
const RARE_EVERY = 60;

/** The trouble of the order with this number, if it has any. */
export const troubleOf = (index: number): Trouble | undefined => {
  if (index % EVERY !== EVERY - 1) return undefined;
  const turn = Math.floor(index / EVERY);
  if (turn % RARE_EVERY === RARE_EVERY - 1) return rare[Math.floor(turn / RARE_EVERY) % rare.length];
  return usual[turn % usual.length];
};
