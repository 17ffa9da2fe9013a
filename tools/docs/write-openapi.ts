import { writeFileSync } from "node:fs";
import { openApiDocument } from "../../shared/contract/openapi/openapi.ts";

/** `npm run openapi`: generates docs/openapi.json. */
writeFileSync(
  new URL("../../docs/openapi.json", import.meta.url),
  `${JSON.stringify(openApiDocument(), undefined, 2)}\n`,
);
