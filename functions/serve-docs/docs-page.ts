import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type PreparedDocument, prepareDocument } from "../../shared/call/prepared-document.ts";

/**
 * Set by infra/bundle/bundle-options.ts, because the renderer's files are not deployed. Undefined when Node runs the sources.
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

/**
 * Mends what axe finds in Swagger UI: links within buttons, choices and regions without a name, texts outside of
 * landmarks, skipped levels of headings.
 */
const ACCESSIBLE = `const set = (selector, name, value) => (node) => node?.querySelector(selector)?.setAttribute(name, value);
const Accessible = ({ React: { createElement: h, Fragment } }) => ({ wrapComponents: {
  DeepLink: () => ({ text }) => h("span", null, text),
  InfoContainer: (Original) => (props) => h("header", { role: "banner" }, h(Original, props)),
  ServersContainer: (Original) => (props) => h("section", { "aria-label": "Server" }, h(Original, props)),
  Servers: (Original) => (props) =>
    h(Fragment, null, h("label", { htmlFor: "servers" }, "Server"), h(Original, props)),
  operations: (Original) => (props) => h(Fragment, null, h("h2", null, "Operations"), h(Original, props)),
  Webhooks: (Original) => (props) => h("div", { ref: set("h2", "aria-level", "3") }, h(Original, props)),
  OpenAPI31Models: (Original) => (props) => h("div", { ref: set("h4", "aria-level", "2") }, h(Original, props)),
  ExamplesSelect: (Original) => (props) => h("div", { ref: set("select", "aria-label", "Example") }, h(Original, props)),
  responses: (Original) => (props) =>
    h("div", { ref: set("table", "aria-label", "Responses of " + props.method + " " + props.path) }, h(Original, props)),
} });`;

/** Without `validatorUrl: null` a public validator would get the document. */
const START = `${ACCESSIBLE}
SwaggerUIBundle({ url: "openapi.json", dom_id: "#docs", validatorUrl: null, deepLinking: true,
  syntaxHighlight: false, plugins: [Accessible] });`;

/** Colours with a contrast of 4.5 to 1, where those of Swagger UI have less. */
const STYLE = `body { margin: 0 }
.swagger-ui .servers-title { display: none }
.swagger-ui .info .title small.version-stamp { background: #46690a }
.swagger-ui .info .base-url, .swagger-ui .info .link .url { color: #1a5fb4 }
.swagger-ui .btn.authorize { color: #12673f; border-color: #12673f }
.swagger-ui .btn.authorize svg { fill: #12673f }
.swagger-ui .opblock.opblock-post .opblock-summary-method { background: #12673f }
.swagger-ui .opblock.opblock-get .opblock-summary-method { background: #1a5fb4 }
.swagger-ui .json-schema-2020-12__constraint { background: #5c4709; color: #fff }
.swagger-ui .parameter__in { color: #555 }`;

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
    '<meta name="referrer" content="no-referrer">',
    `<meta http-equiv="Content-Security-Policy" content="${policyFor(script)}">`,
    "<title>Airtime, Data and Identity Service</title>",
    '<link rel="icon" href="data:,">',
    `<style>${asset("swagger-ui.css")}\n${STYLE}</style>`,
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
