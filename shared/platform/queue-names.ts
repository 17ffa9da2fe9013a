/** A queue's own dead-letter queue. */
export const deadLettersOf = (queueName: string): string => `${queueName}-dead-letters`;

/** The dead letters of the ledger's stream and of the schedules, which have no queue of their own. */
export const streamDeadLetters = (stage: string): string => `${stage}-airtime-ledger-stream-dead-letters`;
export const scheduleDeadLetters = (stage: string): string => `${stage}-airtime-schedules-dead-letters`;

export type QueueUrls = {
  readonly outcomes: string;
  readonly delivery: string;
  /** Without those of stream and schedules on this machine, which retries both without dead letters. */
  readonly deadLetters: {
    readonly outcomes: string;
    readonly delivery: string;
    readonly stream?: string;
    readonly schedules?: string;
  };
};

/** `stage` is absent on this machine. */
export const queueUrls = ({
  outcomes,
  delivery,
  stage,
}: {
  readonly outcomes: string;
  readonly delivery: string;
  readonly stage?: string | undefined;
}): QueueUrls => {
  const beside = (queueName: string): string => new URL(queueName, outcomes).href;
  return {
    outcomes,
    delivery,
    deadLetters: {
      outcomes: deadLettersOf(outcomes),
      delivery: deadLettersOf(delivery),
      ...(stage !== undefined && {
        stream: beside(streamDeadLetters(stage)),
        schedules: beside(scheduleDeadLetters(stage)),
      }),
    },
  };
};
