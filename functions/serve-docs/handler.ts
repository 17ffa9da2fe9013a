import { documentOperation, prepareDocument } from "../../shared/call/prepared-document.ts";
import { openApiDocument } from "../../shared/contract/openapi/openapi.ts";
import { serveDocsRoutes } from "../../shared/contract/routes.ts";
import { admitPublic, apiHandler } from "../../shared/lambda/api-handler.ts";
import { readEnv } from "../../shared/platform/env.ts";
import { serveDocsSpec } from "../specs.ts";
import { docsPage } from "./docs-page.ts";

const env = readEnv(serveDocsSpec.environment);
const cacheControl = "public, max-age=3600";

/** The OpenAPI document, and the page that renders it. */
export const handler = apiHandler(serveDocsRoutes, admitPublic, {
  describeApi: documentOperation(() => prepareDocument(JSON.stringify(openApiDocument(env.CALLERS_URL || undefined))), {
    contentType: "application/json; charset=utf-8",
    cacheControl,
  }),
  showDocs: documentOperation(docsPage, { contentType: "text/html; charset=utf-8", cacheControl, isAlwaysGzip: true }),
});
