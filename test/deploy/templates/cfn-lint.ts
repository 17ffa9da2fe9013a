import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";
import * as z from "#zod";
import { PIPELINE_TEMPLATE } from "../../builders/templates/pipeline-template.ts";
import { stageVariants } from "../../builders/templates/stage-variants.ts";
import { mentions, stackTemplates } from "../../builders/templates/templates.ts";
import { installedPython, packagesOf } from "../python.ts";

/** Goal: AWS's own rules of templates find nothing in any stage, in regions with many and with few services. */
const REGION = "us-east-1";
const SMALL_REGION = "af-south-1";
/** docs/deployment.md says so. */
const NOT_IN_SMALL_REGION = ["AWS::Budgets::Budget"];

/** The findings that stay, all of them warnings. */
const accepted: Readonly<Record<string, string>> = {
  W3005: "CDK lets each function depend on its role and policy, so that it does not start without permissions",
  W3010: "A stage names its zones, so that it keeps the subnets that it has",
  W6001: "An output repeats what Data exports, because the operator's commands read the outputs of one stack",
};

const python = await installedPython(["cfn-lint==1.58.0"]);
const folder = await mkdtemp(join(tmpdir(), "cfn-lint-"));
afterAll(() => rm(folder, { recursive: true }));

const findings = z.array(
  z.pipe(
    z.object({ Rule: z.object({ Id: z.string() }), Message: z.string(), Filename: z.string() }),
    z.transform((finding) => ({
      rule: finding.Rule.Id,
      text: `${finding.Rule.Id} ${finding.Filename}: ${finding.Message}`,
    })),
  ),
);

/** What cfn-lint finds; its exit code is not 0 if there is anything. */
const lint = async (files: readonly string[]): Promise<z.output<typeof findings>> => {
  const args = [join(dirname(python), "cfn-lint"), "--regions", REGION, "--format", "json", "--", ...files];
  const stdout = await promisify(execFile)(python, args, { maxBuffer: 2 ** 26 }).then(
    (ended) => ended.stdout,
    (failure: unknown) => z.object({ stdout: z.string() }).parse(failure).stdout,
  );
  return findings.parse(JSON.parse(stdout));
};

const write = async (name: string, template: unknown): Promise<string> => {
  const file = join(folder, name);
  await writeFile(file, JSON.stringify(template));
  return file;
};

const parts = z.looseObject({
  Resources: z.record(z.string(), z.unknown()),
  Outputs: z._default(z.record(z.string(), z.unknown()), {}),
});
const seen = new Set<string>();

/** A placeholder for what was checked with another template: it has every attribute. */
const KNOWN = {
  Type: "Custom::Known",
  Properties: { ServiceToken: "arn:aws:lambda:us-east-1:123456789012:function:known" },
};

const tagged = z.looseObject({
  Type: z.optional(z.string()),
  Properties: z.optional(z.looseObject({ Tags: z.optional(z.unknown()) })),
});

/**
 * A template without what another one had: variants share most resources, and cfn-lint takes as long for each. The name
 * of the stage makes no resource another one, and tags make one another of its type, because every resource has them.
 */
const unseenPart = (stage: string, stack: string, template: unknown): object => {
  const { Resources, Outputs, ...others } = parts.parse(template);
  const isUnseen = (text: string): boolean => {
    const { size } = seen;
    return seen.add(text.replaceAll(new RegExp(stage, "gi"), "stage")).size > size;
  };
  const isNew = ([id, part]: readonly [string, unknown]): boolean => {
    const { Type, Properties: { Tags, ...properties } = {}, ...rest } = tagged.parse(part);
    const unseen = [`${stack} ${id} ${JSON.stringify([Type, properties, rest])}`, JSON.stringify([Type, Tags])].map(
      isUnseen,
    );
    return unseen.includes(true);
  };
  const outputs = Object.entries(Outputs).filter(isNew);
  const resources = Object.entries(Resources).filter(isNew);
  const mentioned = Object.keys(Resources).filter((id) => mentions([...outputs, ...resources], id));
  return {
    ...others,
    Resources: { ...Object.fromEntries(mentioned.map((id) => [id, KNOWN])), ...Object.fromEntries(resources) },
    Outputs: Object.fromEntries(outputs),
  };
};

/** One run for all, because cfn-lint takes longer to start than to check. */
const files = await Promise.all([
  ...Object.entries(stageVariants).flatMap(([variant, [stage, changes]]) =>
    [...stackTemplates(stage, changes)].map(([name, template]) =>
      write(`${variant} ${name}.json`, unseenPart(stage, name, template)),
    ),
  ),
  write("wrong.json", { Resources: { Queue: { Type: "AWS::SQS::Queue", Properties: { Colour: "red" } } } }),
]);
const all = await lint([...files, PIPELINE_TEMPLATE]);
const findingsIn = (file: string) => all.filter(({ text }) => text.includes(file));

test.each(Object.keys(stageVariants))("cfn-lint finds no error in this variant of a stage: %s", (variant) => {
  const unexpected = findingsIn(join(folder, `${variant} `)).filter(({ rule }) => !Object.hasOwn(accepted, rule));
  expect(unexpected.map(({ text }) => text)).toEqual([]);
});

/** In JSON and in YAML. */
const RESOURCE_TYPE = /\bType"?: ?"?(AWS::\w+::\w+)["\n]/g;

/** By resource type, the hash of the schema that cfn-lint has of a region. */
const schemasIn = async (region: string): Promise<Readonly<Record<string, string>>> => {
  const file = join(await packagesOf(python), `cfnlint/data/schemas/providers/${region}.json`);
  return z.record(z.string(), z.string()).parse(JSON.parse(await readFile(file, "utf8")));
};

test("a region with few services has the same schema of each resource type, so that it was checked too", async () => {
  const [checked, small] = await Promise.all([REGION, SMALL_REGION].map(schemasIn));
  const templates = await Promise.all([...files, PIPELINE_TEMPLATE].map((file) => readFile(file, "utf8")));
  const types = new Set(templates.flatMap((text) => [...text.matchAll(RESOURCE_TYPE)].map(([, type = ""]) => type)));
  expect(types).toContain("AWS::Lambda::Function");
  expect([...types].filter((type) => checked?.[type] === undefined)).toEqual([]);
  expect([...types].filter((type) => checked?.[type] !== small?.[type])).toEqual(NOT_IN_SMALL_REGION);
});

test("cfn-lint finds nothing in the template of the pipeline", () => {
  expect(findingsIn(PIPELINE_TEMPLATE)).toEqual([]);
});

test("every accepted finding of cfn-lint exists, and it reports a property that does not exist", () => {
  expect(new Set(all.map(({ rule }) => rule))).toEqual(new Set([...Object.keys(accepted), "E3002"]));
  expect(findingsIn("wrong.json").map(({ text }) => text)).toEqual([
    expect.stringMatching(/^E3002 .*'Colour' was unexpected/),
  ]);
});
