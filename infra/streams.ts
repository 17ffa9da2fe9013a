/**
 * The tables' streams with the functions that read them. `pattern` chooses the changes, in the form of Lambda's event filters: a
 * list holds the values that an attribute may have. A batch that fails is tried again from its first failure, however often, until
 * that is older than `recordAgeMaxS`.
 */
export const streams = {
  ledger: {
    consumer: "enqueue-webhooks",
    batchSize: 100,
    // An hour less than DynamoDB keeps a change, so that Lambda can still write the dead letter of one that it gives up.
    recordAgeMaxS: 23 * 3_600,
    pattern: {
      dynamodb: {
        OldImage: { status: { S: ["processing"] } },
        NewImage: { status: { S: ["success", "failed"] } },
      },
    },
  },
} as const;
