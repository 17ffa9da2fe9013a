/** What each function gets on AWS. Memory decides its share of a CPU too. */
export type FunctionSpec = {
  readonly memoryMb: number;
  readonly timeoutS: number;
  /** Calls out to the provider or to apps: in the VPC where the stage has one. */
  readonly egress?: true;
};

/** Longest that a function with an API route runs; API Gateway itself waits 30 s. */
export const API_FUNCTION_TIMEOUT_S = 29;

export const functionSpecs = {
  "list-catalog": { memoryMb: 512, timeoutS: 10 },
  purchase: { memoryMb: 1_024, timeoutS: API_FUNCTION_TIMEOUT_S, egress: true },
  "check-identity": { memoryMb: 1_024, timeoutS: API_FUNCTION_TIMEOUT_S, egress: true },
  "read-account": { memoryMb: 512, timeoutS: 15 },
  "receive-status": { memoryMb: 512, timeoutS: 10 },
  "apply-status": { memoryMb: 512, timeoutS: 30 },
  "announce-status": { memoryMb: 512, timeoutS: 30 },
  "deliver-webhook": { memoryMb: 512, timeoutS: 30, egress: true },
  "refresh-catalog": { memoryMb: 512, timeoutS: 60, egress: true },
  "watch-ledger": { memoryMb: 512, timeoutS: 300 },
  "describe-api": { memoryMb: 256, timeoutS: 10 },
  "reject-route": { memoryMb: 256, timeoutS: 10 },
} as const satisfies Record<string, FunctionSpec>;
export type FunctionName = keyof typeof functionSpecs;
