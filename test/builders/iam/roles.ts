import * as z from "#zod";
import { type FunctionName, functionNames } from "../../../infra/functions.ts";
import { idIn, mentions, type Resource, type templatesOf } from "../templates/templates.ts";
import { type Statement, statementsIn } from "./evaluate.ts";
import { resolverOf } from "./resolve.ts";

/** What the templates of a stage allow, with fixed ARNs. */
export type StagePolicies = {
  /** The statements of each function's role. */
  readonly functions: ReadonlyMap<FunctionName, readonly Statement[]>;
  /** Of roles that no function has, by their logical id. */
  readonly otherRoles: ReadonlyMap<string, readonly Statement[]>;
  /** The operators' policies, by their name. */
  readonly managed: ReadonlyMap<string, readonly Statement[]>;
};

const inlinePolicies = z._default(z.array(z.object({ PolicyDocument: z.unknown() })), []);

export const stagePolicies = (templates: ReturnType<typeof templatesOf>): StagePolicies => {
  const stacks = Object.values(templates).filter((stack) => stack !== undefined);
  const resolve = resolverOf(stacks);
  const statementsOf = (policy: unknown): readonly Statement[] => statementsIn(resolve(policy));
  const all = (type: string): readonly Resource[] => stacks.flatMap((stack) => stack.all(type));

  const roles = new Map(
    all("AWS::IAM::Role").map(({ id, Properties: { Policies } }) => [
      id,
      [
        ...inlinePolicies.parse(Policies).flatMap(({ PolicyDocument }) => statementsOf(PolicyDocument)),
        ...all("AWS::IAM::Policy")
          .filter(({ Properties }) => mentions(Properties.Roles, id))
          .flatMap(({ Properties }) => statementsOf(Properties.PolicyDocument)),
      ],
    ]),
  );
  const functions = all("AWS::Lambda::Function").flatMap(({ Properties: { FunctionName: own, Role } }) => {
    const name = functionNames.find((known) => String(own).endsWith(`-airtime-${known}`));
    if (name === undefined) return [];
    const statements = roles.get(idIn(Role)) ?? [];
    roles.delete(idIn(Role));
    return [[name, statements] as const];
  });
  const managed = all("AWS::IAM::ManagedPolicy").map(
    ({ Properties }) => [String(Properties.ManagedPolicyName), statementsOf(Properties.PolicyDocument)] as const,
  );
  return { functions: new Map(functions), otherRoles: roles, managed: new Map(managed) };
};
