import { writeFileSync } from "node:fs";
import { docsUrl, documentOf, generatedPictures, sectionNames } from "./sections.ts";

/** `npm run tables`: generates the sections and pictures of docs/ that are made from code. */
for (const name of sectionNames) {
  const { url, generated } = await documentOf(name);
  writeFileSync(url, generated);
}
for (const [file, draw] of Object.entries(generatedPictures)) writeFileSync(docsUrl(file), draw());
