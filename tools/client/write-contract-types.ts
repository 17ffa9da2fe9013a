import { readFileSync, writeFileSync } from "node:fs";
import { contractTypes } from "./contract-types.ts";

/** The second part of `npm run openapi`: generates client/src/contract-types.ts. */
const file = (path: string): URL => new URL(`../../${path}`, import.meta.url);
writeFileSync(
  file("client/src/contract-types.ts"),
  await contractTypes(readFileSync(file("docs/openapi.json"), "utf8")),
);
