import { readFileSync, writeFileSync } from "node:fs";
import { contractTypes } from "./contract-types.ts";
import { goModels } from "./go-models.ts";
import { javaModels } from "./java-models.ts";
import { phpModels } from "./php-models.ts";
import { phpOperations } from "./php-operations.ts";
import { pythonModels } from "./python-models.ts";
import { pythonOperations } from "./python-operations.ts";

/** The second part of `npm run openapi`: generates what the clients have of the document. */
const file = (path: string): URL => new URL(`../../${path}`, import.meta.url);
const document = readFileSync(file("docs/openapi.json"), "utf8");
writeFileSync(file("client/src/contract-types.ts"), await contractTypes(document));
writeFileSync(file("clients/python/src/airtime_service/models.py"), pythonModels(document));
writeFileSync(file("clients/python/src/airtime_service/_operations.py"), pythonOperations(document));
writeFileSync(file("clients/php/src/Client.php"), phpOperations(document));
for (const [name, text] of phpModels(document)) writeFileSync(file(`clients/php/src/Model/${name}`), text);
writeFileSync(file("clients/go/models.go"), goModels(document));
writeFileSync(file("clients/java/src/main/java/airtime/Models.java"), javaModels(document));
