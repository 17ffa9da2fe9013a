/**
 * What fails for another reason than AWS fails again, or until a person acts: at this pace its receives are used up within
 * half an hour (infra/queues.ts), and the alarm on dead letters calls that person. What AWS makes fail returns when the
 * visibility timeout ends, so that its receives last for the hours of an outage.
 */
export const FAULT_RETRY_S = 15;

/** What a message is about, for its lines in the log: the id in our reference, and the upstream's reference. */
export type MessageNames = {
  readonly transaction?: string | undefined;
  readonly upstream_reference?: string | undefined;
};

/** The result of one message. A retried message becomes a dead letter after the queue's last try. */
export type MessageResult =
  | { readonly kind: "done"; readonly outcome: string }
  /** The message returns after `afterS` seconds, by default after the queue's visibility timeout. */
  | { readonly kind: "retry"; readonly reason: string; readonly afterS?: number };
