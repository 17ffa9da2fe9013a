import { writeFileSync } from "node:fs";
import { documentOf, sectionNames } from "./sections.ts";

/** `npm run tables`: makes the tables of docs/ anew that are made from code. */
for (const name of sectionNames) {
  const { url, shouldBe } = await documentOf(name);
  writeFileSync(url, shouldBe);
}
