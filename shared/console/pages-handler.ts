import { type PreparedDocument, prepareDocument, serveDocument } from "../call/prepared-document.ts";
import type { ConsoleConfig } from "../contract/console-config.ts";
import { securityHeaders } from "../contract/headers.ts";
import { apiEvent } from "../lambda/api-request.ts";
import { type ApiResponse, preparedResponse } from "../lambda/api-response.ts";
import type { ConsoleSettings } from "./console-settings.ts";

/** By the ending of a file's name. All are texts. */
const contentTypes: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  json: "application/json; charset=utf-8",
};

/** The names of these files contain a hash of their content. */
const ASSETS = "assets/";
/** Anyone can load them, and the largest has half a megabyte. Every browser accepts gzip. */
const asAsset = { cacheControl: "public, max-age=31536000, immutable", isAlwaysGzip: true } as const;
const REVALIDATED = "no-cache";

/**
 * The handler of the console's files, which the first request loads. Every path that is no file is a page of the
 * console, which index.html shows: the browser knows the pages.
 */
export const pagesHandler = (load: () => ReadonlyMap<string, PreparedDocument>, settings: ConsoleSettings) => {
  const common = pageHeaders(settings);
  const link = preloads(settings);
  let served: ReadonlyMap<string, PreparedDocument> | undefined;
  return async (event: unknown): Promise<ApiResponse> => {
    served ??= new Map([...load(), ["config.json", prepareDocument(JSON.stringify(configOf(settings)))]]);
    const request = apiEvent.parse(event);
    const path = request.pathParameters?.path ?? "";
    const name = served.has(path) || path.startsWith(ASSETS) ? path : "index.html";
    const document = served.get(name);
    const contentType = contentTypes[name.split(".").at(-1) ?? ""];
    // An asset of an earlier version: the page that wants it asks the person to load it again.
    if (document === undefined || contentType === undefined) return notFound(common);
    const serving = name.startsWith(ASSETS) ? asAsset : { cacheControl: REVALIDATED };
    const response = preparedResponse(serveDocument(document, request, { contentType, ...serving }));
    const signsIn = name === "index.html" && path !== SIGNED_OUT;
    return { ...response, headers: { ...response.headers, ...common, ...(signsIn && { link }) } };
  };
};

/** The path of the page after a sign-out, which does not sign a person in. */
const SIGNED_OUT = "signed-out";

/** What the page reads before it can sign a person in: the browser asks for it while the scripts arrive. */
const preloads = ({ issuer }: ConsoleSettings): string =>
  ["/console/config.json", `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`]
    .map((url) => `<${url}>; rel=preload; as=fetch; crossorigin`)
    .join(", ");

const configOf = ({ issuer, clientId, scope, tokenMinutesMax }: ConsoleSettings): ConsoleConfig => ({
  issuer,
  clientId,
  scope,
  tokenMinutesMax,
});

const notFound = (common: Readonly<Record<string, string>>): ApiResponse => ({
  statusCode: 404,
  headers: { ...common, "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" },
  body: "Not found",
});

/** Nothing of another origin runs in the page, and it calls the service and the identity provider only. */
const pageHeaders = ({ issuer, tokenOrigin = issuer }: ConsoleSettings): Readonly<Record<string, string>> => {
  const providers = new Set([issuer, tokenOrigin].map((url) => new URL(url).origin));
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    `connect-src ${["'self'", ...providers].join(" ")}`,
    "base-uri 'none'",
    // A sign-out is a form, whose answer may come back here: browsers apply this to redirects too.
    `form-action ${["'self'", ...providers].join(" ")}`,
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ];
  return {
    ...securityHeaders,
    "content-security-policy": policy.join("; "),
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
  };
};
