import { createHmac, createSecretKey, hash, type KeyObject } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import * as z from "zod";

type Credentials = { readonly accessKeyId: string; readonly secretAccessKey: string };
/** What the SDK's request depends on besides its body. */
export type RequestContext = { readonly credentials: Credentials; readonly traceId: string | undefined };
/** Makes the requests of one kind of command. */
export type RequestTemplate = NonNullable<ReturnType<typeof learnRequest>>;

const TRACE = "X-Amzn-Trace-Id";
export const INVOCATION_ID = "amz-sdk-invocation-id";
const KNOWN_HEADERS: ReadonlySet<string> = new Set([
  ...["content-type", "x-amz-target", "x-amz-user-agent", "user-agent", "host", "amz-sdk-request", "x-amz-date"],
  ...["content-length", TRACE, INVOCATION_ID, "x-amz-content-sha256", "authorization", "x-amz-security-token"],
]);

const ALGORITHM = "AWS4-HMAC-SHA256";
const AUTHORIZATION = /Credential=[^/]+\/\d+\/([^/]+)\/([^/]+)\/aws4_request, SignedHeaders=([^,]+),/;

const sha256 = (data: string | Uint8Array): string => hash("sha256", data, "hex");
const hmac = (key: KeyObject, data: string): Buffer => createHmac("sha256", key).update(data).digest();
const derive = (key: KeyObject, data: string): KeyObject => createSecretKey(hmac(key, data));

/**
 * Signs requests with the scope and headers of this authorization: AWS Signature Version 4. A day's key is derived
 * once.
 */
const signerLike = (authorization: string, { accessKeyId, secretAccessKey }: Credentials) => {
  const [, region = "", service = "", names = ""] = AUTHORIZATION.exec(authorization) ?? [];
  let signing: { readonly day: string; readonly key: KeyObject } | undefined;
  return (headers: Readonly<Record<string, string>>): string => {
    const { "x-amz-date": date = "", "x-amz-content-sha256": bodyHash = "" } = headers;
    const day = date.slice(0, 8);
    const parts = [day, region, service, "aws4_request"];
    if (signing?.day !== day) {
      signing = { day, key: parts.reduce(derive, createSecretKey(Buffer.from(`AWS4${secretAccessKey}`))) };
    }
    const scope = parts.join("/");
    const lines = names.split(";").map((name) => `${name}:${headers[name]}\n`);
    const canonicalHash = sha256(`POST\n/\n\n${lines.join("")}\n${names}\n${bodyHash}`);
    const signature = hmac(signing.key, `${ALGORITHM}\n${date}\n${scope}\n${canonicalHash}`).toString("hex");
    return `${ALGORITHM} Credential=${accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`;
  };
};

const sentRequest = z.looseObject({
  method: z.literal("POST"),
  path: z.literal("/"),
  query: z.strictObject({}),
  headers: z.record(z.string(), z.string()),
  body: z.instanceof(Uint8Array),
});

/**
 * Learns from a request that the SDK sends how to make others of its kind. Undefined unless the result makes the same
 * bytes from the same body: nothing that the SDK decides is assumed.
 */
export const learnRequest = (sent: unknown, body: Buffer, { credentials, traceId }: RequestContext) => {
  const { data } = sentRequest.safeParse(sent);
  if (data === undefined || !Object.keys(data.headers).every((name) => KNOWN_HEADERS.has(name))) return undefined;
  const sign = signerLike(data.headers.authorization ?? "", credentials);
  const template = {
    fits: (context: RequestContext) =>
      isDeepStrictEqual(context.credentials, credentials) && !context.traceId === !traceId,
    /** The signed request that the SDK sends at its first attempt. A date is `20261122T101530Z`, for example. */
    request: (body: Buffer, traceId: string | undefined, invocationId: string, date: string) => {
      const unsigned = {
        ...data.headers,
        "content-length": String(body.length),
        ...(traceId && { [TRACE]: traceId }),
        [INVOCATION_ID]: invocationId,
        "x-amz-date": date,
        "x-amz-content-sha256": sha256(body),
      };
      return { ...data, headers: { ...unsigned, authorization: sign(unsigned) }, body };
    },
  };
  const { [INVOCATION_ID]: invocationId = "", "x-amz-date": date = "" } = data.headers;
  const again = template.request(body, traceId, invocationId, date);
  const isSame = body.equals(data.body) && JSON.stringify(again.headers) === JSON.stringify(data.headers);
  return isSame ? template : undefined;
};
