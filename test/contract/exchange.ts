import * as z from "#zod";
import { sleep } from "../../shared/platform/time.ts";
import type { DocumentedOperation, Json } from "./document.ts";

/** A request to an operation. The document's example supplies what is absent. */
export type Sent = {
  readonly key?: string | undefined;
  readonly body?: Json;
  /** A body that is sent as it is, instead of JSON. */
  readonly raw?: string;
  /** Parameters of the path or the query. */
  readonly parameters?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
};

export type Received = {
  /** The `reference` of the request's body. */
  readonly sentReference: string | undefined;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
};

/** Headers of HTTP itself and of API Gateway, which are not part of the interface. */
const TRANSPORT_HEADERS = new Set([
  "apigw-requestid",
  "connection",
  "content-encoding",
  "content-length",
  "content-type",
  "date",
  "keep-alive",
  "transfer-encoding",
  "vary",
  "x-amz-apigw-id",
  "x-amzn-requestid",
  "x-amzn-trace-id",
]);
export const contractHeaders = ({ headers }: Received): string[] =>
  [...headers.keys()].filter((name) => !TRANSPORT_HEADERS.has(name));

const withReference = z.object({ reference: z.string() });

export const send = async (baseUrl: string, operation: DocumentedOperation, sent: Sent): Promise<Received> => {
  const { method, path, body: documented } = operation;
  const text = sent.raw ?? (documented && JSON.stringify(sent.body ?? documented.example));
  const query = new URLSearchParams();
  let filled = path;
  for (const [name, value] of Object.entries(sent.parameters ?? {})) {
    if (path.includes(`{${name}}`)) filled = filled.replace(`{${name}}`, encodeURIComponent(value));
    else query.set(name, value);
  }
  const response = await fetch(`${baseUrl}${filled}${query.size > 0 ? `?${query}` : ""}`, {
    method,
    headers: {
      ...(sent.key !== undefined && { authorization: `Bearer ${sent.key}` }),
      ...(text !== undefined && { "content-type": "application/json" }),
      ...sent.headers,
    },
    ...(text !== undefined && { body: text }),
  });
  const sentReference = withReference.safeParse(sent.body ?? documented?.example).data?.reference;
  return { sentReference, status: response.status, headers: response.headers, text: await response.text() };
};

/** Sends a request, and again after `Retry-After` if other tests have used up the key's rate. */
export const sendWithinRate = async (
  baseUrl: string,
  operation: DocumentedOperation,
  sent: Sent,
): Promise<Received> => {
  const received = await send(baseUrl, operation, sent);
  if (received.status !== 429) return received;
  await sleep((Number(received.headers.get("retry-after")) + 1) * 1_000);
  return send(baseUrl, operation, sent);
};
