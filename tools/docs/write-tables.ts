import { writeFileSync } from "node:fs";
import { documentOf, sectionNames } from "./sections.ts";

/** `npm run tables`: generates the sections of docs/ that are made from code. */
for (const name of sectionNames) {
  const { url, generated } = await documentOf(name);
  writeFileSync(url, generated);
}
