import { execFileSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "../../infra/bundle/project-root.ts";
import { demandPart, type SurfaceDraft } from "./surface-schema.ts";

/** The declarations of the client's types by name, as the compiler writes them, without comments. */
const declarations = (folder: string): ReadonlyMap<string, string> => {
  const found = new Map<string, string>();
  // A name of the generated types that another file has too is the client's own there.
  const files = globSync("*.d.ts", { cwd: folder }).filter((file) => file !== "contract-types.d.ts");
  for (const file of ["contract-types.d.ts", ...files]) {
    const text = readFileSync(join(folder, file), "utf8").replaceAll(/^ *\/\*\*[\s\S]*?\*\/\n/gm, "");
    for (const [declaration, name = ""] of text.matchAll(
      /^(?:export )?(?:declare )?(?:abstract )?(?:type|interface|class|const|function) (\w+)[^\n]*(?:\n(?: [^\n]*|\}[^\n]*))*/gm,
    ))
      found.set(name, declaration);
  }
  return found;
};

const namesIn = (text: string): readonly string[] => text.match(/\b[A-Z]\w+/g) ?? [];

/** These names, and those that their declarations mention. */
const reachable = (known: ReadonlyMap<string, string>, start: readonly string[]): ReadonlySet<string> => {
  const found = new Set<string>();
  const add = (name: string): void => {
    const text = known.get(name);
    if (text === undefined || found.has(name)) return;
    found.add(name);
    for (const other of namesIn(text)) add(other);
  };
  for (const name of start) add(name);
  return found;
};

/** The members of a declaration by path, each with its type. A member that may be left out ends with `?`. */
const membersOf = (declaration: string): ReadonlyMap<string, string> => {
  const members = new Map<string, string>();
  const path: string[] = [];
  const add = (name: string, type: string): void => {
    const key = [...path, name].join(".");
    members.set(key, `${members.get(key) ?? ""}${type}`);
  };
  const [head = "", ...lines] = declaration.split("\n");
  add("", head.replace(/^(export )?(declare )?/, ""));
  for (const line of lines) {
    const text = line.trim();
    const [, name = text, rest = ""] = /^(?:readonly )?"?([\w#]+|\[[^\]]+\])"?(.*)$/.exec(text) ?? [];
    if (text.startsWith("}")) {
      path.pop();
      if (text.length > 2) add("", text);
    } else if (!text.startsWith("#")) add(name, rest);
    if (text.endsWith("{") && lines.length > 0) path.push(name.startsWith("}") ? "" : name);
  }
  return members;
};

/** The classes and functions that an app calls with something of its own; it only reads errors and what these return. */
const CALLED = ["AirtimeClient", "Transactions", "verifyWebhook"];
/** Made by the client alone. */
const INTERNAL = ["Settings"];

/** Types that an app makes, because they are a parameter: a new required member breaks it. */
const madeByApps = (known: ReadonlyMap<string, string>): ReadonlySet<string> => {
  const members = CALLED.flatMap((name) => [...membersOf(known.get(name) ?? "").values()]);
  const parameters = members.flatMap((type) => namesIn(/\(([^()]*)\)/.exec(type)?.[1] ?? ""));
  // What a callback gets is made by the client.
  const withoutCallbacks = new Map([...known].map(([name, text]) => [name, text.replaceAll(/\([^()]*\) =>/g, "")]));
  return reachable(
    withoutCallbacks,
    parameters.filter((name) => !INTERNAL.includes(name)),
  );
};

/** Adds the exported types of declaration files. */
export const addDeclarations = (draft: SurfaceDraft, folder: string): void => {
  const known = declarations(folder);
  const exported = [...readFileSync(join(folder, "index.d.ts"), "utf8").matchAll(/\{([^}]*)\}/g)].flatMap(
    ([, list = ""]) =>
      list
        .split(",")
        .map((name) => name.replace(/\btype\b/, "").trim())
        .filter((name) => name !== ""),
  );
  const all = reachable(known, exported);
  const made = madeByApps(known);
  for (const name of exported) draft.offers.set(`client exports ${name}`, "");
  for (const name of new Set([...all, ...exported])) {
    for (const [member, type] of membersOf(known.get(name) ?? "")) {
      draft.offers.set(`client ${name}${member === "" ? "" : `.${member}`}`, type);
      if (made.has(name) && type.startsWith(":")) demandPart(draft, `client ${name}`, member);
    }
  }
};

/** Adds the client's types, as its package has them. */
export const addClient = (draft: SurfaceDraft, folder: string): void => {
  const compiler = join(projectRoot, "node_modules/typescript/bin/tsc");
  execFileSync(process.execPath, [compiler, "-p", join(projectRoot, "client"), "--outDir", folder]);
  addDeclarations(draft, folder);
};
