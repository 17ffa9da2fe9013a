import { gunzipSync } from "node:zlib";
import { expect, test, vi } from "vitest";
import { documentOperation, prepareDocument } from "../../../../shared/call/prepared-document.ts";

const caching = { contentType: "text/html; charset=utf-8", cacheControl: "public, max-age=300" };
const request = (headers: Record<string, string> = {}) => ({ request: { headers } });

test("a document is prepared at the first request and served from memory afterwards", async () => {
  const make = vi.fn(() => prepareDocument("<!doctype html>"));
  const serve = documentOperation(make, caching);
  expect(make).not.toHaveBeenCalled();
  for (let count = 0; count < 3; count += 1) {
    expect(await serve(request())).toMatchObject({ statusCode: 200, body: "<!doctype html>" });
  }
  expect(make).toHaveBeenCalledTimes(1);
});

test("a document is served with its content type, caching and tag, and as gzip to a client that accepts it", async () => {
  const document = prepareDocument("<!doctype html>");
  const { headers, body, isBase64Encoded } = await documentOperation(
    () => document,
    caching,
  )(request({ "accept-encoding": "gzip" }));
  expect(headers).toEqual({
    etag: document.etag,
    "cache-control": "public, max-age=300",
    "content-encoding": "gzip",
    "content-type": "text/html; charset=utf-8",
    vary: "accept-encoding",
  });
  expect(isBase64Encoded).toBe(true);
  expect(gunzipSync(Buffer.from(body ?? "", "base64")).toString()).toBe("<!doctype html>");
});

test("a document that is always gzip is not sent as it is, whatever the client accepts", async () => {
  const make = () => prepareDocument("<!doctype html>");
  const serve = documentOperation(make, { ...caching, isAlwaysGzip: true });
  for (const accepted of [undefined, { "accept-encoding": "identity" }, { "accept-encoding": "gzip" }]) {
    const { headers, body } = await serve(request(accepted));
    expect(headers).toMatchObject({ "content-encoding": "gzip" });
    expect(gunzipSync(Buffer.from(body ?? "", "base64")).toString()).toBe("<!doctype html>");
  }
});

test("two documents have the same tag only if their texts are the same", () => {
  const [one, same, other] = ["a", "a", "b"].map((text) => prepareDocument(text).etag);
  expect(one).toBe(same);
  expect(one).not.toBe(other);
});
