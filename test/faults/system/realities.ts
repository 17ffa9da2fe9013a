import { freezeEffects } from "./effects.ts";

/** Whose connections a process keeps when it is frozen: those to the upstream and to endpoints end before. */
const pooled = ["dynamodb", "sqs", "secrets"] as const;
export const isPooled = (place: string): place is (typeof pooled)[number] => pooled.some((each) => each === place);
const freezes = pooled.flatMap((place) =>
  freezeEffects.map((effect) => `${effect} of connections to ${place}` as const),
);

/** Where most calls fail for a while, each in its own way. */
export const brownOutPlaces = ["dynamodb", "sqs", "secrets", "upstream", "receiver"] as const;
export type BrownOutPlace = (typeof brownOutPlaces)[number];
const brownOuts = brownOutPlaces.map((place) => `a brown-out of ${place}` as const);

/** What AWS, the machines and the upstream do beside single faults of single calls. */
export const realities = [
  "several processes of a function at once",
  "overlapping runs of a schedule",
  ...brownOuts,
  "a write that lands a minute late",
  "an index that is minutes behind",
  "clocks that differ",
  "a clock that steps back",
  "a full index key",
  "two readers of a shard",
  "resharding",
  "a consumer that is added again",
  "both copies of a message in work at once",
  "a kill in the middle of a socket write",
  "a thaw in which timers fire before sockets are read",
  ...freezes,
  "a 429 about one order",
  "an odd Retry-After",
  "an answer of a gate after the order",
] as const;
export type Reality = (typeof realities)[number];

let met = new Map<Reality, number>();

/** Counts that it happened. */
export const meet = (reality: Reality): void => void met.set(reality, (met.get(reality) ?? 0) + 1);
/** How often each happened since the system was started. */
export const metRealities = (): ReadonlyMap<Reality, number> => met;
export const forgetRealities = (): void => {
  met = new Map();
};
