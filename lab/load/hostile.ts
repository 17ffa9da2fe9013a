import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { type FuzzedRequest, requestsFrom } from "../../test/contract/arbitraries.ts";
import type { ContractDocument } from "../../test/contract/document.ts";

/** Part of every request; it must not appear in the log. */
export const CANARY = "canary-8c1f4e07";

/** A request as sent. `operation` is undefined if the OpenAPI document does not define the response. */
export type HostileRequest = Pick<FuzzedRequest, "operation" | "method" | "path" | "headers" | "mode"> & {
  readonly body: string | Buffer | undefined;
  /** The header with the key. */
  readonly keyIn: "authorization" | "x-api-key" | "both";
};

/** Requests generated from the document, half of them with hostile mutations. */
export const hostileRequests = (document: ContractDocument): fc.Arbitrary<HostileRequest> => {
  const plain = requestsFrom(document).map(withCanary);
  return fc.oneof({ weight: 1, arbitrary: plain }, { weight: 1, arbitrary: fc.tuple(plain, mutations).map(mutated) });
};

const withCanary = (request: FuzzedRequest): HostileRequest => ({
  ...request,
  headers: {
    ...(request.body !== undefined && { "content-type": "application/json" }),
    ...request.headers,
    "x-canary": CANARY,
    "user-agent": CANARY,
  },
  body: request.body?.replace(/^\{(?=")/, `{"canary":"${CANARY}",`),
  keyIn: "authorization",
});

type Mutation = (request: HostileRequest) => HostileRequest;
const mutated = ([request, mutations]: [HostileRequest, readonly Mutation[]]): HostileRequest =>
  mutations.reduce<HostileRequest>((before, mutate) => mutate(before), { ...request, operation: undefined });

/** Methods that Node's parser knows, without CONNECT, which opens a tunnel. */
const methods = [
  ...["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "SEARCH", "PURGE", "LINK"],
  ...["M-SEARCH", "MKCOL", "COPY", "LOCK", "REPORT", "QUERY", "SUBSCRIBE"],
];

const pathMutations: readonly ((path: string) => string)[] = [
  (path) => `/${path}`,
  (path) => `${path}/`,
  (path) => `${path}//`,
  (path) => `/.${path}`,
  (path) => `/x/..${path}`,
  (path) => path.toUpperCase(),
  (path) => path.replace(/[a-z]/, (letter) => `%${letter.charCodeAt(0).toString(16)}`),
  (path) => path.replaceAll("/", "%2f"),
  (path) => `${path}%00`,
  (path) => `${path}%`,
  (path) => `${path}%ff%fe`,
  (path) => `${path};jsessionid=1`,
  (path) => `${path}?`,
  (path) => `${path}?${CANARY}=${CANARY}&a=1&a=2&=&%&__proto__=1`,
  (path) => `${path}?${"q=1&".repeat(1_000)}`,
  (path) => `${path}/${"a".repeat(4_000)}`,
  (path) => path.replace(/[^/]*$/, CANARY),
  () => "/../../etc/passwd",
  () => "/webhooks/upstream/x",
  () => `/webhooks/upstream/${"x".repeat(43)}`,
];

const headerMutations: readonly Readonly<Record<string, string>>[] = [
  { "content-type": "application/json; charset=utf-16" },
  { "content-type": "multipart/form-data; boundary=x" },
  { "content-type": "application/x-www-form-urlencoded" },
  { "content-type": "" },
  { "content-encoding": "gzip" },
  { "content-encoding": "deflate, br" },
  { "transfer-encoding": "chunked" },
  { accept: "image/png" },
  { "accept-encoding": "identity;q=0" },
  { "if-none-match": "*" },
  { "if-none-match": `"${"e".repeat(2_000)}"` },
  { range: "bytes=0-0" },
  { host: "elsewhere.example" },
  { "x-forwarded-for": "8.8.8.8, 127.0.0.1" },
  { "x-http-method-override": "DELETE" },
  { "idempotency-key": "a reference with spaces" },
  { "idempotency-key": "k".repeat(101) },
  { "idempotency-key": "" },
  { cookie: `a=${"c".repeat(4_000)}` },
  { authorization: "Bearer" },
  { authorization: "Bearer a b" },
  { authorization: `Basic ${Buffer.from("live_a:b").toString("base64")}` },
  { authorization: `Bearer ${"live_".repeat(500)}` },
  { "x-amz-security-token": "x", "x-amzn-requestid": CANARY },
  { "x-request-id": CANARY },
  { connection: "close" },
];

const bodyMutations: readonly (string | Buffer)[] = [
  Buffer.from([0xff, 0xfe, 0x00, 0xd8]),
  Buffer.from([0xef, 0xbb, 0xbf, 0x7b, 0x7d]),
  Buffer.from(`{"phone_number":"0803\xff234567"}`, "latin1"),
  Buffer.from(`{"network_id":1}`, "utf16le"),
  gzipSync(`{"network_id":1,"plan_id":101,"phone_number":"08031234567"}`),
  `{"network_id":1,"plan_id":101,"phone_number":"08031234567","phone_number":"08000000001"}`,
  `{"network_id":1e999,"plan_id":-0,"phone_number":"08031234567"}`,
  `{"network":"mtn","amount":50.000000000000001,"phone_number":"08031234567"}`,
  `{"network":"mtn","amount":1e2,"phone_number":"08031234567"}`,
  `{"network":{"toString":"mtn"},"amount":["50"],"phone_number":{"length":11}}`,
  `{"__proto__":{"is_consent":true},"nin":"00000000000"}`,
  `{"constructor":{"prototype":{"is_consent":true}},"nin":"00000000000"}`,
  `{"nin":"00000000000","is_consent":"true"}`,
  `{"nin":"00000000000\\u0000","is_consent":true}`,
  `{"nin":"${"0".repeat(15_000)}","is_consent":true}`,
  `{"a":"${"x".repeat(200_000)}"}`,
  `{${'"a":{'.repeat(2_000)}${"}".repeat(2_001)}`,
  `[${'{"nin":"00000000000"},'.repeat(100)}{}]`,
  `{"reference":"${"\u{1F4A5}".repeat(30)}","nin":"00000000000","is_consent":true}`,
  "\u0000".repeat(100),
  "<?xml version='1.0'?><!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]><a>&b;</a>",
];

/** The characters that HTTP permits in a header. */
const headerText = fc.string({ unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)) });

const mutations: fc.Arbitrary<readonly Mutation[]> = fc.array(
  fc.oneof<fc.Arbitrary<Mutation>[]>(
    fc.constantFrom(...methods).map((method) => (request) => ({ ...request, method })),
    fc.constantFrom(...pathMutations).map((mutate) => (request) => ({ ...request, path: mutate(request.path) })),
    fc.constantFrom(...headerMutations).map((headers) => (request) => ({
      ...request,
      headers: { ...request.headers, ...headers },
    })),
    fc.tuple(fc.stringMatching(/^x-[a-z0-9-]{1,30}$/), headerText).map(([name, value]) => (request) => ({
      ...request,
      headers: { ...request.headers, [name]: value },
    })),
    fc.constantFrom(...bodyMutations).map((body) => (request) => ({ ...request, body })),
    fc.uint8Array({ maxLength: 300 }).map((bytes) => (request) => ({ ...request, body: Buffer.from(bytes) })),
    fc.constantFrom("x-api-key" as const, "both" as const).map((keyIn) => (request) => ({ ...request, keyIn })),
  ),
  { minLength: 1, maxLength: 3 },
);
