/**
 * The tables' streams with the functions that read them. `pattern` chooses the changes, in the form of Lambda's event filters: a
 * list holds the values that an attribute may have. A batch that fails is tried again `retriesMax` times from its first failure.
 */
export const streams = {
  ledger: {
    consumer: "announce-status",
    batchSize: 100,
    retriesMax: 100,
    pattern: {
      dynamodb: {
        OldImage: { status: { S: ["processing"] } },
        NewImage: { status: { S: ["success", "failed"] } },
      },
    },
  },
} as const;
