import { createHash } from "node:crypto";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Stack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import * as z from "#zod";
import { addStage } from "../../../infra/constructs/stage.ts";
import { unbundledApp } from "../../../infra/constructs/unbundled-app.ts";
import { type StackPart, stackName } from "../../../infra/outputs.ts";
import { type StageSettings, settingsOf } from "../../../infra/stage-settings.ts";
import { stages } from "../../../stages.ts";

const resource = z.object({
  Type: z.string(),
  Properties: z._default(z.record(z.string(), z.unknown()), {}),
  DependsOn: z.optional(z.union([z.string(), z.array(z.string())])),
  DeletionPolicy: z.optional(z.string()),
  UpdateReplacePolicy: z.optional(z.string()),
  UpdatePolicy: z.optional(z.unknown()),
});
export type Resource = z.output<typeof resource> & { readonly id: string };

const template = z.object({
  Resources: z.record(z.string(), resource),
  Outputs: z._default(
    z.record(z.string(), z.object({ Value: z.unknown(), Export: z.optional(z.object({ Name: z.string() })) })),
    {},
  ),
});

export type StackTemplate = {
  /** All resources of a type; empty if there is none. */
  readonly all: (type: string) => readonly Resource[];
  readonly every: readonly Resource[];
  readonly get: (id: string) => Resource;
  readonly outputs: z.output<typeof template>["Outputs"];
};

export const readTemplate = (json: unknown): StackTemplate => {
  const { Resources, Outputs } = template.parse(json);
  const every = Object.entries(Resources).map(([id, found]) => ({ id, ...found }));
  const get = (id: string): Resource => {
    const found = every.find((one) => one.id === id);
    if (found === undefined) throw new Error(`There is no resource ${id}`);
    return found;
  };
  return { every, get, all: (type) => every.filter(({ Type }) => Type === type), outputs: Outputs };
};

/** The settings of a stage, with `changes` laid over them. */
export const changedSettings = (stage: string, changes: object = {}): StageSettings =>
  settingsOf(stage, { [stage]: { ...settingsOf(stage, stages), ...changes } });

const synthesis = z.object({
  warnings: z.array(z.unknown()),
  /** Templates by the stack's name. */
  templates: z.record(z.string(), z.record(z.string(), z.unknown())),
});
type Synthesis = z.output<typeof synthesis>;

const synthesise = (stage: string, settings: StageSettings): Synthesis => {
  const app = unbundledApp();
  addStage(app, stage, settings);
  const constructs = app.node.findAll();
  const warnings = constructs.flatMap(({ node }) => node.metadata).filter(({ type }) => type === "aws:cdk:warning");
  const stacks = constructs.filter((construct) => Stack.isStack(construct));
  const templates = stacks.map((stack) => [stack.stackName, Template.fromStack(stack).toJSON()]);
  return { warnings, templates: Object.fromEntries(templates) };
};

const { RUN_FOLDER } = process.env;
/** A synthesis takes about a second: the processes of a run write each once, for all of them. */
const writtenSynthesis = (stage: string, settings: StageSettings): Synthesis => {
  if (RUN_FOLDER === undefined) return synthesise(stage, settings);
  const name = createHash("sha256")
    .update(JSON.stringify([stage, settings]))
    .digest("hex");
  const file = join(RUN_FOLDER, `${name}.json`);
  if (!existsSync(file)) {
    const unfinished = `${file}.${process.pid}`;
    writeFileSync(unfinished, JSON.stringify(synthesise(stage, settings)));
    renameSync(unfinished, file);
  }
  return synthesis.parse(JSON.parse(readFileSync(file, "utf8")));
};

const readSynthesis = (stage: string, settings: StageSettings) => {
  const { warnings, templates } = writtenSynthesis(stage, settings);
  const of = (part: StackPart) => readTemplate(templates[stackName(stage, part)]);
  return {
    warnings,
    byName: new Map(Object.entries(templates)),
    read: {
      data: of("Data"),
      network: settings.egress.kind === "nat-gateway" ? of("Network") : undefined,
      service: of("Service"),
      recovery: settings.recovery && of("Recovery"),
      administrator: of("Administrator"),
    },
  };
};

const known = new Map<string, ReturnType<typeof readSynthesis>>();
const synthesisOf = (stage: string, changes?: object): ReturnType<typeof readSynthesis> => {
  const settings = changedSettings(stage, changes);
  const key = JSON.stringify([stage, settings]);
  const found = known.get(key) ?? readSynthesis(stage, settings);
  known.set(key, found);
  return found;
};

/** The templates of all stacks of a stage, by name, as CloudFormation gets them. */
export const stackTemplates = (
  stage: string,
  changes?: object,
): ReadonlyMap<string, Readonly<Record<string, unknown>>> => synthesisOf(stage, changes).byName;

/** A stage's templates; `changes` are laid over its settings. */
export const templatesOf = (stage: string, changes?: object) => synthesisOf(stage, changes).read;

/** What the synthesis of a stage warns of. */
export const synthesisWarnings = (stage: string, changes?: object) => synthesisOf(stage, changes).warnings;

/** The logical id in `{ Ref: id }` or `{ "Fn::GetAtt": [id, ...] }`. */
export const idIn = (value: unknown): string => {
  const reference = z
    .union([
      z.pipe(
        z.object({ Ref: z.string() }),
        z.transform(({ Ref }) => Ref),
      ),
      z.pipe(
        z.object({ "Fn::GetAtt": z.tuple([z.string(), z.string()]) }),
        z.transform((get) => get["Fn::GetAtt"][0]),
      ),
    ])
    .safeParse(value);
  if (!reference.success) throw new Error(`No reference to a resource: ${JSON.stringify(value)}`);
  return reference.data;
};

/** The function that a reference names, directly or by its alias. */
export const functionIn = ({ all, get }: StackTemplate, reference: unknown): Resource => {
  const alias = all("AWS::Lambda::Alias").find(({ id }) => mentions(reference, id));
  return get(idIn(alias?.Properties.FunctionName ?? reference));
};

/** Whether a resource's logical id stands anywhere in a value. */
export const mentions = (value: unknown, id: string): boolean => JSON.stringify(value).includes(`"${id}"`);

const oneOrMore = z.union([
  z.array(z.unknown()),
  z.pipe(
    z.unknown(),
    z.transform((one) => [one]),
  ),
]);
const statement = z.object({
  Effect: z.string(),
  Action: z.pipe(oneOrMore, z.array(z.string())),
  Resource: z.optional(oneOrMore),
  Principal: z.optional(z.unknown()),
  Condition: z.optional(z.unknown()),
});
const document = z.object({ Statement: z.array(statement) });

/** The statements of a policy. */
export const statementsOf = ({ Properties }: Resource) => document.parse(Properties.PolicyDocument).Statement;

/**
 * `Ledger`, `Ledger/index/by_list`, `Ledger/stream`, `ReferenceKey` or `OutcomesQueue`: a resource without CDK's
 * suffixes; of a stack `stack/Prod-Service/*`, with any id; of API Gateway's settings of the account `::/account`.
 */
export const resourceName = (resource: unknown): string => {
  if (resource === "*") return "*";
  if (
    resource !== null &&
    typeof resource === "object" &&
    "Ref" in resource &&
    String(resource.Ref).startsWith("AWS::")
  )
    return String(resource.Ref);
  const text = JSON.stringify(resource);
  const [stack] = /stack\/[\w-]+\/\*/.exec(text) ?? [];
  if (stack !== undefined) return stack;
  const [requests] = /(?:GET|POST)\/operations\/\w+\/\*/.exec(text) ?? [];
  if (requests !== undefined) return requests;
  const [setting] = /::\/account/.exec(text) ?? [];
  if (setting !== undefined) return setting;
  const [, id = text] =
    /(?:ExportsOutput(?:FnGetAtt|Ref)|"Fn::GetAtt":\["|"Ref":")([A-Za-z]+?)[0-9A-F]{8}/.exec(text) ?? [];
  const [index = text.includes("StreamArn") ? "/stream" : ""] = /\/index\/\w+/.exec(text) ?? [];
  return `${id}${index}`;
};
