import { readFileSync } from "node:fs";
import { assumptions, priceTable, recoveryCostTable, requestCostTable, restCostTable } from "../costs/tables.ts";
import { functionTable } from "./function-table.ts";
import { layerTable } from "./layers.ts";
import { logEventTable } from "./log-event-table.ts";
import { withSection } from "./markdown.ts";
import { requestTable } from "./request-table.ts";

/** The parts of documents that `npm run tables` writes, each between two marks. */
export const generatedSections = {
  layers: { file: "architecture.md", render: layerTable },
  functions: { file: "architecture.md", render: functionTable },
  requests: { file: "architecture.md", render: requestTable },
  "cost of requests": { file: "deployment.md", render: requestCostTable },
  assumptions: { file: "deployment.md", render: assumptions },
  "cost at rest": { file: "deployment.md", render: restCostTable },
  "cost of recovery": { file: "deployment.md", render: recoveryCostTable },
  "log events": { file: "operations.md", render: logEventTable },
  prices: { file: "deployment.md", render: priceTable },
} as const satisfies Record<string, { file: string; render: (current: string) => string | Promise<string> }>;
export type SectionName = keyof typeof generatedSections;

export const sectionNames: readonly SectionName[] = Object.keys(generatedSections).filter(
  (name): name is SectionName => name in generatedSections,
);

/** A section's document, as stored and with the section generated again. */
export const documentOf = async (name: SectionName) => {
  const { file, render } = generatedSections[name];
  const url = new URL(`../../docs/${file}`, import.meta.url);
  const stored = readFileSync(url, "utf8");
  return { url, stored, generated: await withSection(stored, name, render) };
};
