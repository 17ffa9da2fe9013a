import { openApiDocument } from "../../shared/contract/openapi.ts";
import { routes } from "../../shared/contract/routes.ts";
import { admitAnyone, apiHandler, operation } from "../../shared/platform/api-handler.ts";
import { prepareDocument, servingDocument } from "../../shared/platform/prepared-document.ts";
import { docsPage } from "./docs-page.ts";

const cacheControl = "public, max-age=300";

/** The interface's description, for programs and for people. It is public, and makes no call. */
export const handler = apiHandler("describe-api", admitAnyone, {
  describeApi: operation(
    routes.describeApi,
    servingDocument(() => prepareDocument(JSON.stringify(openApiDocument())), {
      contentType: "application/json; charset=utf-8",
      cacheControl,
    }),
  ),
  showDocs: operation(
    routes.showDocs,
    servingDocument(docsPage, { contentType: "text/html; charset=utf-8", cacheControl }),
  ),
});
