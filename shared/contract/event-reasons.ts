/** Why an event that could be read was not applied. */
export const eventReasons = [
  /** Its transaction has the other final status. */
  "contradiction",
  /** It says `failed`, and only the path token authenticates it. */
  "unauthenticated",
  /** Its reference is unknown, and no open transaction fits. */
  "no_candidate",
  /** Its reference is unknown, and several open transactions fit. */
  "several_candidates",
  /** Its reference is unknown, and a failure is never matched heuristically. */
  "unknown_failure",
  /** Its reference is unknown, and another event under it reports the other status. */
  "conflicting_events",
  /** It says `failed`, and its order was sent again after a 429: it may be about the sending before. */
  "sent_again",
  /** It is the answer to a lookup, and is about another order than the one that was asked for. */
  "another_order",
] as const;
export type EventReason = (typeof eventReasons)[number];

/** The reason of an event that could not be read, and that of an order that the upstream does not know. */
export const unreadableReasons = ["unreadable", "not_found"] as const;

export const eventReasonTexts: Readonly<Record<EventReason | (typeof unreadableReasons)[number], string>> = {
  contradiction: "It contradicts the final status of its order",
  unauthenticated: "It reports a failure, and nothing proves that the upstream sent it",
  no_candidate: "No open order fits",
  several_candidates: "Several open orders fit",
  unknown_failure: "It reports the failure of an unknown order",
  conflicting_events: "Another event under its reference reports the opposite",
  sent_again: "It reports a failure, and its order was sent again: it may be about the sending before",
  another_order: "The upstream answered about another order than it was asked for",
  not_found: "The upstream does not know the order",
  unreadable: "It could not be read",
};
