import { App } from "aws-cdk-lib";
import { cdkJson } from "../cdk-json.ts";

/**
 * An app as `cdk` makes it, without the functions' bundles, which are not part of a template, and without CDK's
 * validation of templates, unless it is asked for: both take seconds.
 */
export const unbundledApp = ({ validates = false }: { readonly validates?: boolean } = {}): App =>
  new App({
    context: { ...cdkJson.context, "aws:cdk:bundling-stacks": [] },
    builtinCloudFormationValidation: validates,
  });
