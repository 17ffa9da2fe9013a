import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type PreparedDocument, prepareDocument } from "../../shared/lambda/prepared-document.ts";

/**
 * Set by infra/bundle/bundle.ts, because the renderer's files are not deployed. Undefined when Node runs the sources.
 */
declare const BUNDLED_DOCS_PAGE: ReturnType<typeof docsPageForBundle> | undefined;

/** The page at /v1/docs: Swagger UI in one file. It loads openapi.json from the same folder. */
export const docsPage = (): PreparedDocument =>
  typeof BUNDLED_DOCS_PAGE === "object"
    ? { ...BUNDLED_DOCS_PAGE, gzip: Buffer.from(BUNDLED_DOCS_PAGE.gzip, "base64") }
    : prepareDocument(docsHtml());

export const docsPageForBundle = () => {
  const { gzip, etag } = prepareDocument(docsHtml());
  return { gzip: Buffer.from(gzip).toString("base64"), etag };
};

/** Without `validatorUrl: null` a public validator would get the document. */
const START = 'SwaggerUIBundle({ url: "openapi.json", dom_id: "#docs", validatorUrl: null, deepLinking: true });';

const docsHtml = (): string => {
  const folder = dirname(fileURLToPath(import.meta.resolve("swagger-ui-dist/package.json")));
  const asset = (name: string): string => readFileSync(join(folder, name), "utf8");
  const script = `${asset("swagger-ui-bundle.js")}\n${START}`;
  return [
    "<!doctype html>",
    '<html lang="en">',
    "<head>",
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<meta http-equiv="Content-Security-Policy" content="${policyFor(script)}">`,
    "<title>Airtime, Data and Identity Service</title>",
    '<link rel="icon" href="data:,">',
    `<style>body { margin: 0 }\n${asset("swagger-ui.css")}</style>`,
    "</head>",
    '<body><div id="docs"></div>',
    `<script>${script}</script>`,
    "</body>",
    "</html>",
    "",
  ].join("\n");
};

/** Forbids requests to other hosts and other scripts. */
const policyFor = (script: string): string =>
  [
    "default-src 'none'",
    `script-src 'sha256-${createHash("sha256").update(script).digest("base64")}'`,
    "style-src 'unsafe-inline'",
    "img-src data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
