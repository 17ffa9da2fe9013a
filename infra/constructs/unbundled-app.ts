import { App } from "aws-cdk-lib";
import { cdkJson } from "../cdk-json.ts";

/**
 * An app as `cdk` makes it, without what is no part of a template and takes seconds: the functions' bundles, the tree,
 * CDK's own validation, whose rules are those of cfn-lint, and where in the code each resource was made.
 */
export const unbundledApp = (): App =>
  new App({
    context: {
      ...cdkJson.context,
      "aws:cdk:bundling-stacks": [],
      "aws:cdk:disable-stack-trace": true,
      "aws:cdk:disable-creation-stack-traces": true,
    },
    builtinCloudFormationValidation: false,
    treeMetadata: false,
  });
