import { createHash } from "node:crypto";
import { gunzipSync, gzipSync } from "node:zlib";
import type { CallRequest } from "./call.ts";
import type { PreparedResponse } from "./result.ts";

/** A document that is prepared once and served many times. */
export type PreparedDocument = {
  readonly gzip: Uint8Array<ArrayBuffer>;
  /** Weak, because the same document is served with and without gzip. */
  readonly etag: string;
};

export const prepareDocument = (text: string): PreparedDocument => {
  const digest = createHash("sha256").update(text).digest("base64url").slice(0, 22);
  return { gzip: gzipSync(text, { level: 9 }), etag: `W/"${digest}"` };
};

export const documentText = ({ gzip }: Pick<PreparedDocument, "gzip">): string => gunzipSync(gzip).toString("utf8");

type Serving = {
  readonly contentType: string;
  readonly cacheControl: string;
  readonly ageS?: number;
  /** Headers, beside `accept-encoding`, by which the document differs: a cache keeps a copy for each of their values. */
  readonly varyBy?: readonly string[];
  /** Also to a client that does not accept gzip: the stage pays for each byte of a large public document. */
  readonly isAlwaysGzip?: true;
};

/** The response with an `ETag`: 304 if the caller has this version, gzip if the caller accepts it. */
export const serveDocument = (
  document: PreparedDocument,
  { headers: sent }: Pick<CallRequest, "headers">,
  { contentType, cacheControl, ageS, varyBy = [], isAlwaysGzip }: Serving,
): PreparedResponse => {
  const headers = {
    etag: document.etag,
    "cache-control": cacheControl,
    vary: ["accept-encoding", ...varyBy].join(", "),
    ...(ageS !== undefined && { age: String(ageS) }),
  };
  if (matchesEtag(sent["if-none-match"], document.etag)) return { statusCode: 304, headers };
  const typed = { ...headers, "content-type": contentType };
  if (!isAlwaysGzip && !acceptsGzip(sent["accept-encoding"]))
    return { statusCode: 200, headers: typed, body: documentText(document) };
  return {
    statusCode: 200,
    headers: { ...typed, "content-encoding": "gzip" },
    body: Buffer.from(document.gzip).toString("base64"),
    isBase64Encoded: true,
  };
};

/** An operation that serves one document, which `make` prepares at the first request. */
export const documentOperation = (make: () => PreparedDocument, serving: Serving) => {
  let made: PreparedDocument | undefined;
  return async ({ request }: { readonly request: Pick<CallRequest, "headers"> }): Promise<PreparedResponse> => {
    made ??= make();
    return serveDocument(made, request, serving);
  };
};

/** RFC 9110, 13.1.2: weak comparison with each tag of the list; `*` matches any. */
const matchesEtag = (ifNoneMatch: string | undefined, etag: string): boolean => {
  const opaque = (tag: string): string => tag.trim().replace(/^W\//, "");
  return ifNoneMatch?.split(",").some((tag) => tag.trim() === "*" || opaque(tag) === opaque(etag)) ?? false;
};

/** RFC 9110, 12.5.3: `gzip` or `*` is listed with a weight above zero. */
const acceptsGzip = (acceptEncoding = ""): boolean => {
  const weights = new Map(
    acceptEncoding
      .toLowerCase()
      .split(",")
      .map((coding) => {
        const [name = "", weight = "q=1"] = coding.split(";").map((part) => part.trim());
        return [name, Number(weight.replace(/^q=/, ""))];
      }),
  );
  return (weights.get("gzip") ?? weights.get("*") ?? 0) > 0;
};
