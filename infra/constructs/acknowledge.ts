import { Validations } from "aws-cdk-lib";
import type { IConstruct } from "constructs";

/** Says why a rule of cdk-nag's is not followed at this place. */
export const acknowledge = (place: IConstruct, rule: string, reason: string): void => {
  Validations.of(place).acknowledge({ id: `AwsSolutions-${rule}`, reason });
};

/** The only actions on `*`; the templates' test has the same list. AWS checks them without naming a resource. */
export const acknowledgeWildcards = (role: IConstruct): void => {
  acknowledge(
    role,
    "IAM5[Resource::*]",
    "Network interfaces of functions that call out, and ListStreams for the stream's reader",
  );
};
