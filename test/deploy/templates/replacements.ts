import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { expect, test } from "vitest";
import * as z from "#zod";
import { stageVariants } from "../../builders/templates/stage-variants.ts";
import { mentions, type Resource, readTemplate, stackTemplates } from "../../builders/templates/templates.ts";
import { installedPython, packagesOf } from "../python.ts";

/**
 * Goal: no change of a live stage's settings has CloudFormation replace what keeps state, or what has a name, of which there
 * cannot be two. Source: CloudFormation's schemas of resource types list the properties that only a creation sets.
 */

/** What may be replaced. */
const replaceable: Readonly<Record<string, string>> = {
  "AWS::CloudWatch::Alarm": "the alarms of a release have its version in their names (decision 0018)",
  "AWS::CodeDeploy::DeploymentConfig": "it has no name, because percent and minutes replace it",
  "AWS::EC2::NatGateway": "it gets another address, which the upstream whitelists before (docs/deployment.md)",
  "AWS::Lambda::EventSourceMapping": "it reads the stream of an adopted table",
};

const folder = join(await packagesOf(await installedPython(["cfn-lint==1.58.0"])), "cfnlint/data/schemas");
const read = async (path: string): Promise<unknown> => JSON.parse(await readFile(join(folder, path), "utf8"));
/** The file of each resource type's schema. */
const hashes = z.record(z.string(), z.string()).parse(await read("providers/us-east-1.json"));
const schema = z.object({ createOnlyProperties: z._default(z.array(z.string()), []) });

const known = new Map<string, readonly string[]>();
/** The properties of a type that only a creation sets, each as the names on the way to it. */
const createOnly = async (type: string): Promise<readonly string[]> => {
  const paths = known.get(type) ?? schema.parse(await read(`resources/${hashes[type]}.json`)).createOnlyProperties;
  known.set(type, paths);
  return paths;
};

const fields = z.record(z.string(), z.unknown());
const valueAt = ({ Properties }: Resource, path: string): unknown =>
  path
    .replace("/properties/", "")
    .split("/")
    .reduce<unknown>((value, name) => fields.safeParse(value).data?.[name], Properties);

/** The resources that a stack of `before` has in a stack of `after` too, and that CloudFormation replaces. */
const replacedBy = async (before: unknown, after: unknown): Promise<readonly Resource[]> => {
  const present = new Map(readTemplate(before).every.map((old) => [old.id, old]));
  const kept: { readonly old: Resource; readonly now: Resource; readonly paths: readonly string[] }[] = [];
  for (const now of readTemplate(after).every) {
    const old = present.get(now.id);
    if (old) kept.push({ old, now, paths: await createOnly(now.Type) });
  }
  const replaced = new Set<Resource>();
  // What refers to a replaced resource by such a property is replaced too.
  for (let count = -1; count < replaced.size; ) {
    count = replaced.size;
    for (const { old, now, paths } of kept) {
      const isReplaced = paths.some((path) => {
        const value = valueAt(now, path);
        if (value === undefined && valueAt(old, path) === undefined) return false;
        return !isDeepStrictEqual(valueAt(old, path), value) || [...replaced].some(({ id }) => mentions(value, id));
      });
      if (isReplaced || old.Type !== now.Type) replaced.add(now);
    }
  }
  return [...replaced];
};

const seen = new Set<string>();

test.each(Object.entries(stageVariants))(
  "a live stage that becomes this variant, or was it, keeps what has a state or a name: %s",
  async (_, [stage, changes]) => {
    const [committed, variant] = [stackTemplates(stage), stackTemplates(stage, changes)];
    for (const [from, to] of [
      [committed, variant],
      [variant, committed],
    ] as const) {
      for (const [name, template] of to) {
        const replaced = from.has(name) ? await replacedBy(from.get(name), template) : [];
        for (const { Type } of replaced) seen.add(Type);
        expect(replaced.filter(({ Type }) => !Object.hasOwn(replaceable, Type)).map(({ id }) => id)).toEqual([]);
      }
    }
  },
);

test("everything that may be replaced is replaced by some change of settings", () => {
  expect(seen).toEqual(new Set(Object.keys(replaceable)));
});
