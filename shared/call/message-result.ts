/** The result of one message. A retried message becomes a dead letter after the queue's last try. */
export type MessageResult =
  | { readonly kind: "done"; readonly outcome: string }
  /** The message returns after `afterS` seconds, by default after the queue's visibility timeout. */
  | { readonly kind: "retry"; readonly reason: string; readonly afterS?: number };
