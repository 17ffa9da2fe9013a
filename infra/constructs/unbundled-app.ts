import { App } from "aws-cdk-lib";
import { cdkJson } from "../cdk-json.ts";

/**
 * An app as `cdk` makes it, without what is no part of a template and takes seconds: the functions' bundles, the tree,
 * and CDK's own validation, whose rules are those of cfn-lint.
 */
export const unbundledApp = (): App =>
  new App({
    context: { ...cdkJson.context, "aws:cdk:bundling-stacks": [] },
    builtinCloudFormationValidation: false,
    treeMetadata: false,
  });
