import { writeFileSync } from "node:fs";
import { openApiDocument } from "../../shared/contract/openapi.ts";

/** `npm run openapi`: makes docs/openapi.json anew. */
writeFileSync(
  new URL("../../docs/openapi.json", import.meta.url),
  `${JSON.stringify(openApiDocument(), undefined, 2)}\n`,
);
