/** The headers of a response that help to find an endpoint's fault. Others may hold what nobody should store. */
export const KEPT_RESPONSE_HEADERS = [
  "content-length",
  "content-type",
  "date",
  "location",
  "retry-after",
  "server",
  "x-request-id",
] as const;
export type ResponseHeaders = Readonly<Partial<Record<(typeof KEPT_RESPONSE_HEADERS)[number], string>>>;

export type PostResult =
  | {
      readonly kind: "answered";
      readonly status: number;
      readonly bytes: number;
      readonly headers: ResponseHeaders;
      /** Of a response that is no delivery: its first 300 characters, without the numbers of persons. */
      readonly body?: string;
    }
  /** `too_large`, `timeout`, `address_refused`, or the code of the connection's error. */
  | {
      readonly kind: "failed";
      readonly reason: string;
      /** Absent if there was no response. */
      readonly status?: number;
      readonly headers?: ResponseHeaders;
    };

/** Only a complete 2xx response counts; a redirect is a failure. */
export const isDelivered = (result: PostResult): boolean =>
  result.kind === "answered" && result.status >= 200 && result.status <= 299;
