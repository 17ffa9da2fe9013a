import { Validations } from "aws-cdk-lib";
import type { IConstruct } from "constructs";

/** Suppresses a rule of cdk-nag at a construct, and records the reason. */
export const acknowledge = (scope: IConstruct, rule: string, reason: string): void => {
  Validations.of(scope).acknowledge({ id: `AwsSolutions-${rule}`, reason });
};

/** The only actions on `*`, which AWS authorises without a resource; the test of permissions has the same list. */
export const acknowledgeWildcards = (role: IConstruct): void => {
  acknowledge(
    role,
    "IAM5[Resource::*]",
    "Network interfaces of functions that call out, ListStreams for the stream's reader, and traces",
  );
};
