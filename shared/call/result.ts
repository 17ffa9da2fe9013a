import { type RateGroup, rateGroups } from "../contract/limits.ts";

/** The payload of a success response, and its sentence for people. */
export type OperationResult<Data> = {
  readonly message: string;
  readonly data: Data;
  readonly headers?: Readonly<Record<string, string>>;
};

/** A response whose body was prepared earlier: the catalog, the OpenAPI document. */
export type PreparedResponse = {
  readonly statusCode: 200 | 304;
  readonly body?: string;
  readonly isBase64Encoded?: boolean;
  readonly headers: Readonly<Record<string, string>>;
};

/** A key's requests of one rate group in this minute. */
export type Rate = { readonly limit: number; readonly remaining: number };

/** The rate where no key was recognised. Source: docs/interface.md 6.D4. */
export const unusedRate = (group: RateGroup): Rate => {
  const { requestsPerMinute } = rateGroups[group];
  return { limit: requestsPerMinute, remaining: requestsPerMinute };
};
