import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { projectRoot } from "../../infra/bundle/project-root.ts";
import { markdownTable } from "../markdown/markdown.ts";

/** The folders of `shared`, each with those of `shared` that it may import. */
const sharedFolders = {
  contract: "",
  platform: "contract",
  call: "contract platform",
  lambda: "contract platform call",
  ledger: "contract platform",
  prices: "contract platform ledger",
  "read-account": "contract platform call ledger",
  upstream: "contract platform",
  catalog: "contract platform call prices upstream",
  access: "contract platform call ledger prices",
  orders: "contract platform call ledger prices upstream",
  "queued-orders": "contract platform ledger upstream catalog orders",
  purchase: "contract platform call ledger prices upstream catalog orders queued-orders",
  identity: "contract platform call ledger prices upstream orders",
  "upstream-events": "contract platform call ledger upstream orders queued-orders",
  "upstream-lookup": "contract platform ledger upstream orders",
  webhooks: "contract platform call ledger access",
  notifications: "contract platform ledger access webhooks",
  periods: "contract platform ledger",
  reconciliation: "contract platform ledger identity upstream-events webhooks",
  "upstream-statement": "contract platform ledger",
  margin: "contract platform ledger",
  statistics: "contract platform call ledger",
  "audit-stream": "platform call ledger",
  actions: `contract platform ledger prices upstream catalog access orders queued-orders purchase identity
    upstream-events webhooks notifications periods reconciliation upstream-lookup upstream-statement margin
    statistics`,
  console: "contract platform call lambda ledger access actions",
};

const sharedPaths = (names: string): readonly string[] =>
  names.split(/\s+/).flatMap((name) => (name ? `shared/${name}` : []));

/**
 * The folders that a folder may import besides itself. `shared` means all folders in it. test/ and lab/ may import
 * everything, and nothing else may import them.
 */
export const layers: Layers = {
  ...Object.fromEntries(
    Object.entries(sharedFolders).map(([name, imports]) => [`shared/${name}`, sharedPaths(imports)]),
  ),
  functions: ["shared"],
  infra: ["shared", "functions"],
  "console/app": ["shared/contract", "console"],
  // The page knows of the service what the contract says; it shows the runbook.
  console: ["shared/contract", "docs"],
  // It imports nothing of the service, so it does not share its mistakes.
  "tools/simulator": [],
  // A package of its own: what it knows of the service is docs/openapi.json.
  "client/src": [],
  "client/examples": [],
  "tools/client": ["infra", "tools/usage"],
  "tools/markdown": [],
  "tools/site": ["infra", "tools/markdown", "tools/usage"],
  "tools/docs": ["stages.ts", "shared", "infra", "tools/costs", "tools/scale", "tools/markdown", "tools/site"],
  // The tables are about the committed stages.
  "tools/costs": ["stages.ts", "shared", "infra", "tools/markdown", "tools/usage"],
  "tools/scale": ["stages.ts", "shared", "infra", "tools/costs", "tools/markdown"],
  "tools/aws": ["shared", "infra"],
  "tools/deploy": ["shared", "infra", "tools/aws"],
  "tools/trace": ["shared", "infra", "tools/usage"],
  "tools/statement-import": ["shared"],
  "tools/local": ["shared", "infra", "tools/simulator", "tools/statement-import"],
  "tools/admin": ["shared", "infra", "tools/aws", "tools/local", "tools/statement-import"],
  "tools/release": ["shared", "infra", "tools/admin", "tools/client", "tools/docs", "tools/package", "tools/usage"],
  "tools/conformance": ["shared", "infra", "tools/local", "tools/admin", "tools/simulator", "tools/usage"],
  "tools/usage": ["infra"],
  "tools/acceptance": [
    "shared",
    "infra",
    "client/src",
    "tools/aws",
    "tools/admin",
    "tools/costs",
    "tools/simulator",
    "tools/usage",
  ],
  "tools/templates": ["infra", "tools/usage"],
  "tools/init": ["stages.ts", "infra", "tools/usage"],
  "tools/package": ["infra", "tools/usage"],
  "tools/airtime": [
    "infra",
    "tools/usage",
    "tools/init",
    "tools/templates",
    "tools/local",
    "tools/admin",
    "tools/deploy",
    "tools/acceptance",
    "tools/costs",
  ],
};

type Layers = Readonly<Record<string, readonly string[]>>;

/** What is part of a circle of imports, or between two of them; empty if imports go one way. */
const circular = (importsOf: ReadonlyMap<string, readonly string[]>): readonly string[] => {
  const imported = new Set([...importsOf.values()].flat());
  const left = [...importsOf].filter(
    ([name, imports]) => imported.has(name) && imports.some((other) => importsOf.has(other)),
  );
  return left.length === importsOf.size ? [...importsOf.keys()] : circular(new Map(left));
};

/** The folders that a table allows to import each other, also through others. */
export const circularFolders = (table: Layers): readonly string[] => {
  const folders = Object.keys(table);
  const importedBy = (from: string) => folders.filter((other) => other !== from && allows(table, from, other));
  return circular(new Map(folders.map((folder) => [folder, importedBy(folder)])));
};

/** The files that import each other, also for types and through others. */
export const circularFiles = (files: ReadonlyMap<string, string>): readonly string[] =>
  circular(new Map([...files].map(([file, text]) => [file, importsOf(file, text)])));

/** The layer of a file; its own path if it is in none. */
const folderOf = (file: string): string => Object.keys(layers).find((folder) => file.startsWith(`${folder}/`)) ?? file;

const allows = (table: Layers, from: string, to: string): boolean =>
  (table[from] ?? []).some((folder) => to === folder || to.startsWith(`${folder}/`));

const isAllowed = (from: string, to: string): boolean => from === to || allows(layers, from, to);

/** Relative imports, static and dynamic. */
const IMPORT = /(?:from|import\(?)\s*"(\.{1,2}\/[^"]+)"/g;

const importsOf = (file: string, text: string): readonly string[] =>
  [...text.matchAll(IMPORT)].map(([, specifier = ""]) => join(dirname(file), specifier));

/** The imports that the table forbids, among files given as path from the root and text. */
export const violationsIn = (files: ReadonlyMap<string, string>) =>
  [...files].flatMap(([file, text]) =>
    importsOf(file, text)
      .filter((imported) => !isAllowed(folderOf(file), folderOf(imported)))
      .map((imports) => ({ file, imports })),
  );

/** Every TypeScript file of the layers, as path and text. */
export const layeredFiles = (): ReadonlyMap<string, string> =>
  new Map(
    ["shared", "functions", "infra", "console", "client", "tools"].flatMap((top) =>
      readdirSync(join(projectRoot, top), { recursive: true, encoding: "utf8" })
        .filter((name) => /\.tsx?$/.test(name) && !name.includes("node_modules"))
        .map((name): [string, string] => [join(top, name), readFileSync(join(projectRoot, top, name), "utf8")]),
    ),
  );

export const layerTable = (): string =>
  markdownTable([
    ["folder", "may import"],
    ...Object.entries(layers).map(([folder, allowed]) => [
      `\`${folder}\``,
      allowed.map((name) => `\`${name.replace("shared/", "")}\``).join(", ") || "nothing",
    ]),
  ]);
