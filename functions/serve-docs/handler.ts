import { openApiDocument } from "../../shared/contract/openapi.ts";
import { routes } from "../../shared/contract/routes.ts";
import { admitPublic, apiHandler, operation } from "../../shared/lambda/api-handler.ts";
import { documentOperation, prepareDocument } from "../../shared/lambda/prepared-document.ts";
import { docsPage } from "./docs-page.ts";

const cacheControl = "public, max-age=300";

/** The interface's description, for programs and for people. It is public, and makes no call. */
export const handler = apiHandler("serve-docs", admitPublic, {
  describeApi: operation(
    routes.describeApi,
    documentOperation(() => prepareDocument(JSON.stringify(openApiDocument())), {
      contentType: "application/json; charset=utf-8",
      cacheControl,
    }),
  ),
  showDocs: operation(
    routes.showDocs,
    documentOperation(docsPage, { contentType: "text/html; charset=utf-8", cacheControl }),
  ),
});
