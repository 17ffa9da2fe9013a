import * as z from "zod";
import type { FunctionName } from "../../../infra/functions.ts";
import { idIn, type Resource, resourceName, type StackTemplate } from "../templates.ts";
import { type Decision, evaluate, type Statement, statementsIn } from "./evaluate.ts";

/** A call to a table as IAM sees it. Each part of a transaction is a call of its own. */
export type ItemCall = {
  readonly action: "GetItem" | "BatchGetItem" | "PutItem" | "UpdateItem" | "DeleteItem" | "ConditionCheckItem" | "Scan";
  readonly table: "Access" | "Ledger" | "Cache";
  /** The partition keys that the request names. */
  readonly keys: readonly string[];
  /** The other attributes that it names. */
  readonly attributes?: readonly string[];
};

const tableArn = (table: string): string => `arn:aws:dynamodb:eu-west-1:123456789012:table/${table}`;
const policyDocument = z.object({
  Version: z.string(),
  Statement: z.array(
    z.looseObject({ Resource: z.union([z.array(z.unknown()), z.unknown().transform((one) => [one])]) }),
  ),
});

/** The policies of a function's role. */
export const policiesOf = (service: StackTemplate, name: FunctionName): readonly Resource[] => {
  const own = service
    .all("AWS::Lambda::Function")
    .find(({ Properties }) => String(Properties.FunctionName).endsWith(`-airtime-${name}`));
  const role = idIn(own?.Properties.Role);
  return service
    .all("AWS::IAM::Policy")
    .filter(({ Properties }) => JSON.stringify(Properties.Roles).includes(`"${role}"`));
};

/** The statements of a function's role, each table, index and queue by its name in the templates. */
const statementsOf = (service: StackTemplate, name: FunctionName): readonly Statement[] =>
  policiesOf(service, name).flatMap(({ Properties }) => {
    const { Version, Statement } = policyDocument.parse(Properties.PolicyDocument);
    const resolved = Statement.map(({ Resource, ...statement }) => ({
      ...statement,
      Resource: Resource.map((resource) => (resource === "*" ? "*" : tableArn(resourceName(resource)))),
    }));
    return statementsIn({ Version, Statement: resolved });
  });

/** What IAM decides about a call of a function. */
export const decideCall = (service: StackTemplate, name: FunctionName, call: ItemCall): Decision => {
  const { action, table, keys, attributes = [] } = call;
  const names = keys.length > 0 ? ["pk", ...attributes] : attributes;
  return evaluate(statementsOf(service, name), {
    action: `dynamodb:${action}`,
    resource: tableArn(table),
    context: { "dynamodb:LeadingKeys": keys, "dynamodb:Attributes": names },
  });
};
