import { Stack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import * as z from "#zod";
import { addStage } from "../../infra/constructs/stage.ts";
import { unbundledApp } from "../../infra/constructs/unbundled-app.ts";
import { type StageSettings, settingsOf } from "../../infra/stage-settings.ts";
import { stages } from "../../stages.ts";

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

/** The files of a worker share the templates of a stage, because a synthesis takes about a second. */
const synthesised = new Map<string, ReturnType<typeof synthesise>>();

const synthesise = (stage: string, changes: object) => {
  const app = unbundledApp();
  const { data, network, service, recovery, administrator } = addStage(app, stage, changedSettings(stage, changes));
  const warnings = app.node
    .findAll()
    .flatMap(({ node }) => node.metadata)
    .filter(({ type }) => type === "aws:cdk:warning");
  const templateOf = (stack: Stack): Readonly<Record<string, unknown>> => Template.fromStack(stack).toJSON();
  const stacks = app.node.findAll().filter((construct) => Stack.isStack(construct));
  return {
    warnings,
    byName: new Map(stacks.map((stack) => [stack.stackName, templateOf(stack)])),
    read: {
      data: readTemplate(templateOf(data)),
      network: network && readTemplate(templateOf(network)),
      service: readTemplate(templateOf(service)),
      recovery: recovery && readTemplate(templateOf(recovery)),
      administrator: readTemplate(templateOf(administrator)),
    },
  };
};

const synthesisOf = (stage: string, changes: object = {}) => {
  const key = JSON.stringify([stage, changes]);
  const known = synthesised.get(key) ?? synthesise(stage, changes);
  synthesised.set(key, known);
  return known;
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
