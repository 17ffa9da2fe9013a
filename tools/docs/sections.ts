import { readFileSync } from "node:fs";
import {
  assumptions,
  floodCostTable,
  frontCostTable,
  priceTable,
  recoveryCostTable,
  requestCostTable,
  restCostTable,
} from "../costs/tables.ts";
import { withSection } from "../markdown/markdown.ts";
import { answer, assumptionList, firstLimitTable, limitTable, loadCostTable, remedyTable } from "../scale/tables.ts";
import { documentTable } from "../site/document-table.ts";
import { alarmTable } from "./alarm-table.ts";
import { classTable, erasureTable, itemTable } from "./data-map.ts";
import { functionTable } from "./function-table.ts";
import { layerTable } from "./layers.ts";
import { logEventTable } from "./log-event-table.ts";
import { permissionTable, personalList, reasonList } from "./permission-table.ts";
import { requestTable } from "./request-table.ts";
import { transactionStates } from "./transaction-states.ts";

/** The parts of documents that `npm run tables` writes, each between two marks. */
export const generatedSections = {
  documents: { file: "../README.md", render: documentTable },
  layers: { file: "architecture.md", render: layerTable },
  functions: { file: "architecture.md", render: functionTable },
  requests: { file: "architecture.md", render: requestTable },
  "transaction states": { file: "architecture.md", render: transactionStates },
  "cost of requests": { file: "costs.md", render: requestCostTable },
  assumptions: { file: "costs.md", render: assumptions },
  "cost by front": { file: "costs.md", render: frontCostTable },
  "cost of floods": { file: "costs.md", render: floodCostTable },
  "cost at rest": { file: "costs.md", render: restCostTable },
  "cost of recovery": { file: "costs.md", render: recoveryCostTable },
  "log events": { file: "operations.md", render: logEventTable },
  alarms: { file: "operations.md", render: alarmTable },
  permissions: { file: "operations.md", render: permissionTable },
  "reads on record": { file: "operations.md", render: personalList },
  "actions with a reason": { file: "operations.md", render: reasonList },
  "data about people": { file: "data-map.md", render: classTable },
  "stored items": { file: "data-map.md", render: itemTable },
  erasure: { file: "compliance.md", render: erasureTable },
  prices: { file: "costs.md", render: priceTable },
  answer: { file: "scale.md", render: answer },
  "first limits": { file: "scale.md", render: firstLimitTable },
  limits: { file: "scale.md", render: limitTable },
  remedies: { file: "scale.md", render: remedyTable },
  "cost of load": { file: "scale.md", render: loadCostTable },
  "assumptions about load": { file: "scale.md", render: assumptionList },
} as const satisfies Record<string, { file: string; render: (current: string) => string | Promise<string> }>;
type SectionName = keyof typeof generatedSections;

export const sectionNames: readonly SectionName[] = Object.keys(generatedSections).filter(
  (name): name is SectionName => name in generatedSections,
);

/** The URL of a document in docs/. */
export const docsUrl = (file: string): URL => new URL(`../../docs/${file}`, import.meta.url);

/** A section's document, as stored and with the section generated again. */
export const documentOf = async (name: SectionName) => {
  const { file, render } = generatedSections[name];
  const url = docsUrl(file);
  const stored = readFileSync(url, "utf8");
  return { url, stored, generated: await withSection(stored, name, render) };
};
