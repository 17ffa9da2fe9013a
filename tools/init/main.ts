import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline/promises";
import { parseArgs } from "node:util";
import { SettingsError } from "../../infra/settings-error.ts";
import { readArguments } from "../usage/arguments.ts";
import { usage } from "../usage/usage.ts";
import { askFor } from "./answers.ts";
import { type Answers, assertFree, assertValid, repositoryFiles, whatToCommit } from "./files.ts";

/** `airtime init`: makes a repository's four files in this folder. */

const text = { type: "string" } as const;
const options = {
  ...{ "upstream-url": text, account: text, region: text, "alarm-email": text },
  yes: { type: "boolean", default: false },
} as const;

/** Asks for what the options do not say; with `--yes` the examples are taken. */
const readAnswers = async (): Promise<Answers> => {
  const { yes, ...given } = readArguments(usage.init, (args) => parseArgs({ args: [...args], options }).values);
  if (!yes && !process.stdin.isTTY) {
    throw new SettingsError(`There is no terminal to ask on: add --yes. Usage: ${usage.init}`);
  }
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return await askFor(given, yes ? { question: async () => "" } : terminal);
  } finally {
    terminal.close();
  }
};

const main = async (): Promise<void> => {
  const folder = process.cwd();
  const manifest = join(folder, "package.json");
  if (!existsSync(manifest)) {
    throw new SettingsError("There is no package.json here: npm install the service's package in this folder first.");
  }
  const present = readFileSync(manifest, "utf8");
  assertFree(present);
  const answers = await readAnswers();
  assertValid(answers);
  const files = repositoryFiles(folder, answers, present);
  const others = [...files.keys()].filter((path) => path !== "package.json" && existsSync(join(folder, path)));
  if (others.length > 0) throw new SettingsError(`There is ${others.join(" and ")} already. Nothing was changed.`);
  for (const [path, text] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  console.log(`Made ${[...files.keys()].join(", ")}. Each explains its lines. The pages that they name are in
node_modules/airtime-data-identity-service/docs.

  npm start                                the service on this machine, with a simulated upstream
  npm run synth -- --stage sandbox         checks the settings; needs no AWS account
  npx cdk bootstrap aws://ACCOUNT/REGION --app ''
  npm run deploy -- --stage sandbox        deploys the sandbox

${whatToCommit(present)}`);
};

await main();
