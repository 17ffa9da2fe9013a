import { readFileSync } from "node:fs";
import { basename, isAbsolute, join } from "node:path";
import * as z from "#zod";
import { projectRoot } from "../../infra/bundle/project-root.ts";
import { SettingsError } from "../../infra/settings-error.ts";
import { settingsOf } from "../../infra/stage-settings.ts";
import { stages } from "../../stages.ts";

const { account, region, upstreamBaseUrl, alarmEmail = "" } = stages.prod;

/** What a company says of its stages, by option. The examples are those of `stages.ts`, with which nothing can sell. */
export const questions = [
  { name: "upstream-url", question: "Base URL of the upstream, with /v1", example: upstreamBaseUrl },
  { name: "account", question: "AWS account of prod (000000000000 until you have one)", example: account ?? "" },
  { name: "region", question: "AWS region of prod", example: region ?? "" },
  { name: "alarm-email", question: "E-mail address for prod's alarms", example: alarmEmail },
] as const;

export type Answers = Readonly<Record<(typeof questions)[number]["name"], string>>;

/** Throws a SettingsError if a stage with these answers would not be valid. */
export const assertValid = (answers: Answers): void => {
  settingsOf("prod", {
    prod: {
      ...stages.prod,
      account: answers.account,
      region: answers.region,
      upstreamBaseUrl: answers["upstream-url"],
      alarmEmail: answers["alarm-email"],
      egress: { kind: "nat-gateway", zones: zonesIn(answers.region) },
      // It is asked for when the upstream is known: docs/deployment.md, "First deployment".
      upstreamProfile: { reference: "documented" },
    },
  });
};

const zonesIn = (name: string): readonly [string, string] => [`${name}a`, `${name}b`];

/** A repository's files, by path. `present` is the package.json that npm has made. */
export const repositoryFiles = (folder: string, answers: Answers, present: string): ReadonlyMap<string, string> =>
  new Map([
    ["package.json", packageJson(folder, present)],
    ["stages.ts", stagesFile(answers)],
    ["cdk.json", cdkJsonFile()],
    [".github/workflows/deploy.yml", readFileSync(join(projectRoot, "tools/init/deploy.yml"), "utf8")],
  ]);

const PACKAGE = z
  .object({ name: z.string(), version: z.string() })
  .parse(JSON.parse(readFileSync(join(projectRoot, "package.json"), "utf8")));

const json = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`;

/** The scripts that the documentation names. The shell of `start` is replaced, so that Ctrl-C reaches the service. */
const scripts: Readonly<Record<string, string>> = {
  start: "exec airtime start",
  ...Object.fromEntries(
    ["admin", "synth", "diff", "deploy", "destroy", "templates", "acceptance", "costs"].map((name) => [
      name,
      `airtime ${name}`,
    ]),
  ),
};

const texts = z.optional(z.record(z.string(), z.string()));

const manifest = (present: string) => {
  try {
    return z.looseObject({ dependencies: texts, scripts: texts }).parse(JSON.parse(present));
  } catch (error) {
    const reason = error instanceof SyntaxError ? `: ${error.message}` : "";
    throw new SettingsError(`package.json is no manifest of npm${reason}. Nothing was changed.`, { cause: error });
  }
};

/** What a clone of the repository needs besides the files that are made. `present` is the package.json that npm has made. */
export const whatToCommit = (present: string): string => {
  const from = manifest(present).dependencies?.[PACKAGE.name] ?? "";
  const archive = from.startsWith("file:") ? from.slice("file:".length) : undefined;
  if (archive !== undefined && (isAbsolute(archive) || archive.startsWith("../"))) {
    return `The package is installed from ${archive}, which a clone of this repository lacks: copy it into this folder, npm install ./${basename(archive)}, and commit it with package-lock.json.`;
  }
  return `Commit package-lock.json${archive === undefined ? "" : ` and ${archive}`} too, and none of node_modules, cdk.out and .local.`;
};

/** Throws a SettingsError if the repository's own package.json has another script of a name that is needed. */
export const assertFree = (present: string): void => {
  const { scripts: own = {} } = manifest(present);
  const taken = Object.keys(scripts).filter((name) => (own[name] ?? scripts[name]) !== scripts[name]);
  if (taken.length === 0) return;
  throw new SettingsError(
    `package.json has a script ${taken.join(" and ")} already, which would be replaced. Nothing was changed.`,
  );
};

const packageJson = (folder: string, present: string): string => {
  const { dependencies = {}, scripts: own = {}, ...others } = manifest(present);
  return json({
    "//": [
      "name, private: this repository is no package and is never published.",
      "type: stages.ts is an ES module, which Node runs as it is.",
      "scripts: npm run deploy -- --stage sandbox, as the service's documentation has them. npm uses the Node of node_modules.",
      "dependencies: the service. An update is one line: npm install with the new version, then diff and deploy.",
    ],
    name: basename(folder)
      .toLowerCase()
      .replace(/[^a-z0-9-]/g, "-"),
    private: true,
    ...others,
    type: "module",
    scripts: { ...own, ...scripts },
    dependencies: { [PACKAGE.name]: PACKAGE.version, ...dependencies },
  });
};

/** The committed stages of this repository, with the answers in the place of their values. */
const stagesFile = (answers: Answers): string => {
  const zones = zonesIn(answers.region);
  const replaced: readonly (readonly [string, string])[] = [
    ...zonesIn(region ?? "").map((zone, index) => [zone, zones[index] ?? ""] as const),
    ...questions.map(({ name, example }) => [example, answers[name]] as const),
  ];
  return replaced.reduce(
    // By a function: `$` has a meaning in a text that replaces another.
    (text, [example, answer]) => text.replaceAll(JSON.stringify(example), () => JSON.stringify(answer)),
    readFileSync(join(projectRoot, "stages.ts"), "utf8"),
  );
};

const cdkJsonFile = (): string =>
  json({
    "//": [
      "app: what the CDK runs to synthesise a stage.",
      "toolkitStackName, bootstrapQualifier: a bootstrap of this project's own, beside one that the account has.",
      "notices, cli-telemetry: the CDK asks and tells nobody anything.",
      "The other entries of context: how the templates are made. Take them over from a release that changes them.",
    ],
    ...z.looseObject({}).parse(JSON.parse(readFileSync(join(projectRoot, "cdk.json"), "utf8"))),
    app: "airtime app",
  });
