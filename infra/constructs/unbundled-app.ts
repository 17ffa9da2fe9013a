import { readFileSync } from "node:fs";
import { App } from "aws-cdk-lib";
import * as z from "zod";

/** The settings that `cdk` takes from cdk.json. */
const cdkJson = z
  .object({ context: z.record(z.string(), z.unknown()) })
  .parse(JSON.parse(readFileSync(new URL("../../cdk.json", import.meta.url), "utf8")));

/**
 * An app as `cdk` makes it, without the functions' bundles, which are not part of a template, and without CDK's
 * validation of templates, unless it is asked for: both take seconds.
 */
export const unbundledApp = ({ validates = false }: { readonly validates?: boolean } = {}): App =>
  new App({
    context: { ...cdkJson.context, "aws:cdk:bundling-stacks": [] },
    builtinCloudFormationValidation: validates,
  });
