import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";
import * as z from "zod";
import { PIPELINE_TEMPLATE } from "../../builders/pipeline-template.ts";
import { stageVariants } from "../../builders/stage-variants.ts";
import { mentions, stackTemplates } from "../../builders/templates.ts";
import { installedPython } from "../python.ts";

/** Goal: AWS's own rules of templates find nothing in any stage, in regions with many and with few services. */
const REGIONS = ["us-east-1", "af-south-1"];

/** The findings that stay, all of them warnings. */
const accepted: Readonly<Record<string, string>> = {
  W3005: "CDK lets each function depend on its role and policy, so that it does not start without permissions",
  W3010: "A stage names its zones, so that it keeps the subnets that it has",
  W6001: "An output repeats what Data exports, because the operator's commands read the outputs of one stack",
};

/** docs/deployment.md says so. */
const NO_BUDGETS = "Resource type 'AWS::Budgets::Budget' does not exist in 'af-south-1'";

const python = await installedPython(["cfn-lint==1.58.0"]);
const folder = await mkdtemp(join(tmpdir(), "cfn-lint-"));
afterAll(() => rm(folder, { recursive: true }));

const findings = z.array(
  z.object({ Rule: z.object({ Id: z.string() }), Message: z.string(), Filename: z.string() }).transform((finding) => ({
    rule: finding.Rule.Id,
    text: `${finding.Rule.Id} ${finding.Filename}: ${finding.Message}`,
  })),
);

/** What cfn-lint finds; its exit code is not 0 if there is anything. */
const lint = async (files: readonly string[]): Promise<z.output<typeof findings>> => {
  const args = [join(dirname(python), "cfn-lint"), "--regions", ...REGIONS, "--format", "json", "--", ...files];
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
  Outputs: z.record(z.string(), z.unknown()).default({}),
});
const seen = new Set<string>();

/**
 * A template without what another one had, except what the rest refers to: variants share most resources, and cfn-lint
 * takes as long for each.
 */
const unseenPart = (stack: string, template: unknown): object => {
  const { Resources, Outputs, ...others } = parts.parse(template);
  const isNew = ([id, part]: readonly [string, unknown]): boolean => {
    const { size } = seen;
    return seen.add(`${stack} ${id} ${JSON.stringify(part)}`).size > size;
  };
  const outputs = Object.entries(Outputs).filter(isNew);
  const kept = new Map(Object.entries(Resources).filter(isNew));
  const keepReferences = (part: unknown): void => {
    for (const [id, resource] of Object.entries(Resources)) {
      if (kept.has(id) || !mentions(part, id)) continue;
      kept.set(id, resource);
      keepReferences(resource);
    }
  };
  for (const [, part] of [...outputs, ...kept]) keepReferences(part);
  return { ...others, Resources: Object.fromEntries(kept), Outputs: Object.fromEntries(outputs) };
};

/** One run for all, because cfn-lint takes longer to start than to check. */
const files = await Promise.all([
  ...Object.entries(stageVariants).flatMap(([variant, [stage, changes]]) =>
    [...stackTemplates(stage, changes)].map(([name, template]) =>
      write(`${variant} ${name}.json`, unseenPart(name, template)),
    ),
  ),
  write("wrong.json", { Resources: { Queue: { Type: "AWS::SQS::Queue", Properties: { Colour: "red" } } } }),
]);
const all = (await lint([...files, PIPELINE_TEMPLATE])).filter(({ text }) => !text.endsWith(NO_BUDGETS));
const findingsIn = (file: string) => all.filter(({ text }) => text.includes(file));

test.each(Object.keys(stageVariants))(
  "cfn-lint finds no error in two regions in this variant of a stage: %s",
  (variant) => {
    const unexpected = findingsIn(join(folder, `${variant} `)).filter(({ rule }) => !Object.hasOwn(accepted, rule));
    expect(unexpected.map(({ text }) => text)).toEqual([]);
  },
);

test("cfn-lint finds nothing in the template of the pipeline", () => {
  expect(findingsIn(PIPELINE_TEMPLATE)).toEqual([]);
});

test("every accepted finding of cfn-lint exists, and it reports a property that does not exist", () => {
  expect(new Set(all.map(({ rule }) => rule))).toEqual(new Set([...Object.keys(accepted), "E3002"]));
  expect(findingsIn("wrong.json").map(({ text }) => text)).toEqual([
    expect.stringMatching(/^E3002 .*'Colour' was unexpected/),
  ]);
});
