import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { docsPage } from "../../../../functions/serve-docs/docs-page.ts";

test("the page tells no other host where a person came from, and loads nothing from one", () => {
  const html = gunzipSync(docsPage().gzip).toString("utf8");
  const head = html.slice(0, html.indexOf("<title>"));
  expect(head).toContain('<meta name="referrer" content="no-referrer">');
  expect(head).toMatch(/default-src 'none'; script-src 'sha256-[\w+/=]+'; .*connect-src 'self'/);
});
