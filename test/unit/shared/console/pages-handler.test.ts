import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { prepareDocument } from "../../../../shared/call/prepared-document.ts";
import { consoleSettings } from "../../../../shared/console/console-settings.ts";
import { pagesHandler } from "../../../../shared/console/pages-handler.ts";
import { anApiEvent } from "../../../builders/aws/api-event.ts";
import { aConsole } from "../../../builders/templates/console.ts";

const files = new Map([
  ["index.html", prepareDocument("<!doctype html>")],
  ["icon.svg", prepareDocument("<svg/>")],
  ["assets/index-A1b2.js", prepareDocument("start()")],
]);
const handlerOf = (changes: object = {}) =>
  pagesHandler(() => files, consoleSettings.parse({ ...aConsole, ...changes }));

const get = (path: string | undefined, headers: Readonly<Record<string, string>> = {}, handler = handlerOf()) =>
  handler(
    anApiEvent({
      path: path === undefined ? "/console" : `/console/${path}`,
      routeKey: path === undefined ? "GET /console" : "GET /console/{path+}",
      ...(path !== undefined && { pathParameters: { path } }),
      headers,
    }),
  );

test.each([undefined, "", "accounts", "accounts/acc_1/keys", "callback", "index.html"])(
  "the path %s is a page, which index.html shows and which is asked for again each time",
  async (path) => {
    const { statusCode, headers, body } = await get(path);
    expect({ statusCode, body }).toEqual({ statusCode: 200, body: "<!doctype html>" });
    expect(headers).toMatchObject({ "content-type": "text/html; charset=utf-8", "cache-control": "no-cache" });
  },
);

test("a file with a hash in its name is kept for a year, and has the type of its ending", async () => {
  expect((await get("assets/index-A1b2.js")).headers).toMatchObject({
    "content-type": "text/javascript; charset=utf-8",
    "cache-control": "public, max-age=31536000, immutable",
  });
  expect((await get("icon.svg")).headers).toMatchObject({
    "content-type": "image/svg+xml",
    "cache-control": "no-cache",
  });
});

test("an asset that this version does not have is 404 and not a page, and is not kept", async () => {
  for (const path of ["assets/index-OLD.js", "assets/", "assets/../index.html"]) {
    const { statusCode, headers, body } = await get(path);
    expect({ statusCode, body }).toEqual({ statusCode: 404, body: "Not found" });
    expect(headers).toMatchObject({ "cache-control": "no-store", "x-content-type-options": "nosniff" });
  }
});

test("a browser that accepts gzip gets the stored bytes, and 304 once it has them", async () => {
  const { headers, body, isBase64Encoded } = await get(undefined, { "accept-encoding": "gzip, br" });
  expect(headers["content-encoding"]).toBe("gzip");
  expect(isBase64Encoded).toBe(true);
  expect(gunzipSync(Buffer.from(body ?? "", "base64")).toString()).toBe("<!doctype html>");
  const again = await get(undefined, { "if-none-match": headers.etag ?? "" });
  expect(again).toMatchObject({ statusCode: 304, headers: { "content-security-policy": expect.any(String) } });
  expect(again.body).toBeUndefined();
});

test("a file with a hash in its name is gzip, whatever the client accepts: a flood of such requests costs its bytes", async () => {
  for (const accepted of [undefined, { "accept-encoding": "identity" }]) {
    const asset = await get("assets/index-A1b2.js", accepted);
    expect(asset.headers["content-encoding"]).toBe("gzip");
    expect(gunzipSync(Buffer.from(asset.body ?? "", "base64")).toString()).toBe("start()");
  }
});

test("config.json has what the page needs to sign people in, and no group", async () => {
  const { body, headers } = await get("config.json");
  expect(JSON.parse(body ?? "")).toEqual({
    issuer: aConsole.issuer,
    clientId: aConsole.clientId,
    scope: "openid email profile",
    tokenMinutesMax: 15,
  });
  expect(headers).toMatchObject({
    "content-type": "application/json; charset=utf-8",
    "cache-control": "no-cache",
  });
});

test("a page that signs people in has the browser ask for the settings and for the provider's addresses at once", async () => {
  const preload = (url: string) => `<${url}>; rel=preload; as=fetch; crossorigin`;
  const provider = "https://login.example.com/.well-known/openid-configuration";
  for (const issuer of ["https://login.example.com", "https://login.example.com/"]) {
    const { headers } = await get("callback", {}, handlerOf({ issuer }));
    expect(headers.link).toBe([preload("/console/config.json"), preload(provider)].join(", "));
  }
  for (const path of ["signed-out", "icon.svg"]) expect((await get(path)).headers).not.toHaveProperty("link");
});

test.each([
  [{}, "connect-src 'self' https://login.example.com"],
  [{ tokenOrigin: "https://login.example.com" }, "connect-src 'self' https://login.example.com"],
  [
    { issuer: "https://accounts.google.com", tokenOrigin: "https://oauth2.googleapis.com" },
    "connect-src 'self' https://accounts.google.com https://oauth2.googleapis.com",
  ],
])("with the settings %j a page may call these origins only: %s", async (changes, directive) => {
  const { headers } = await get(undefined, {}, handlerOf(changes));
  expect(headers["content-security-policy"]?.split("; ")).toEqual([
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    directive,
    "base-uri 'none'",
    directive.replace("connect-src", "form-action"),
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ]);
  expect(headers).toMatchObject({
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": expect.stringContaining("camera=()"),
  });
});
