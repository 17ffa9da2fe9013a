/**
 * The tables' streams with their consumers. `pattern` filters the changes, in the form of Lambda's event filters: a
 * list holds the values that an attribute may have. A failed batch is retried from its first failure until that is
 * older than `recordAgeMaxS`.
 */
export const streams = {
  ledger: {
    consumer: "enqueue-webhooks",
    batchSize: 100,
    // An hour less than DynamoDB keeps a change, so Lambda can still write its dead letter.
    recordAgeMaxS: 23 * 3_600,
    pattern: {
      dynamodb: {
        OldImage: { status: { S: ["processing"] } },
        NewImage: { status: { S: ["success", "failed"] } },
      },
    },
  },
} as const;
