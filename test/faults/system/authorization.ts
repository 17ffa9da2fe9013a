import * as z from "zod";
import { outputOf, pascalCase } from "../../../infra/outputs.ts";
import { secretNames, secretTable } from "../../../shared/platform/secret-table.ts";
import { IDENTITY_KEY_ARN } from "../../../tools/local/local-aws.ts";
import { dynamoDbRequests } from "../../builders/iam/dynamodb-requests.ts";
import { evaluate, type IamRequest, type Statement } from "../../builders/iam/evaluate.ts";
import { arnOf } from "../../builders/iam/resolve.ts";
import type { WireAnswer } from "../../strict/wire.ts";
import type { Process } from "./clock.ts";
import type { Effect } from "./effects.ts";

/** What the role of each function allows. */
export type Roles = ReadonlyMap<string, readonly Statement[]>;

export type Authorization = {
  /** Whether a call to AWS is allowed to the process that sends it. Processes of no function may do everything. */
  readonly allows: (process: Process, effect: Effect, body: string) => boolean;
  /** How many calls each function made. */
  readonly calls: Map<string, number>;
  /** The calls that no role allowed, each once. */
  readonly denied: Set<string>;
};

/** As DynamoDB, SQS, Secrets Manager and KMS answer. Source: AWS, "Common error types" of each. */
export const accessDenied: WireAnswer = {
  status: 400,
  body: JSON.stringify({ __type: "AccessDeniedException", message: "The role of the function does not allow this" }),
};

const queueCall = z.object({ QueueUrl: z.string() });
const secretCall = z.object({ SecretId: z.enum(secretNames) });
const keyCall = z.object({ KeyId: z.literal(IDENTITY_KEY_ARN), MacAlgorithm: z.string() });

/** `tables`: by the names of this system, those in the templates. */
export const authorizationOf = (roles: Roles, tables: ReadonlyMap<string, string>): Authorization => {
  const requestsOf = ({ place, name }: Effect, body: unknown): readonly IamRequest[] => {
    if (place === "dynamodb")
      return dynamoDbRequests(name, body, (table) => arnOf("AWS::DynamoDB::Table", tables.get(table) ?? table));
    if (place === "sqs") {
      const queue = queueCall.parse(body).QueueUrl.split("/").at(-1) ?? "";
      const resource = arnOf("AWS::SQS::Queue", `${pascalCase(queue)}Queue`);
      // A batch needs the permission of its single call. Source: AWS, "Actions, resources, and condition keys for SQS".
      return [{ action: `sqs:${name.replace(/Batch$/, "")}`, resource, context: {} }];
    }
    if (name === "GenerateMac") {
      const { MacAlgorithm } = keyCall.parse(body);
      const resource = arnOf("AWS::KMS::Key", "IdentityKey");
      return [{ action: "kms:GenerateMac", resource, context: { "kms:MacAlgorithm": [MacAlgorithm] } }];
    }
    const { variable } = secretTable[secretCall.parse(body).SecretId];
    const resource = arnOf("AWS::SecretsManager::Secret", outputOf(variable.replace(/_SECRET_ID$/, "")));
    return [{ action: `secretsmanager:${name}`, resource, context: {} }];
  };

  const calls = new Map<string, number>();
  const denied = new Set<string>();
  return {
    calls,
    denied,
    allows: ({ name: process }, effect, body) => {
      const [functionName = ""] = process.split(" ");
      const statements = roles.get(functionName);
      if (statements === undefined || effect.place === "upstream" || effect.place === "receiver") return true;
      calls.set(functionName, (calls.get(functionName) ?? 0) + 1);
      const refused = requestsOf(effect, JSON.parse(body)).filter(
        (request) => evaluate(statements, request) !== "allowed",
      );
      for (const { action, resource, context } of refused)
        denied.add(`${functionName}: ${action} on ${resource} ${JSON.stringify(context)}`);
      return refused.length === 0;
    },
  };
};
