import * as z from "#zod";
import { outputOf, pascalCase } from "../../../infra/outputs.ts";
import { secretNames, secretTable } from "../../../shared/platform/secret-table.ts";
import { IDENTITY_KEY_ARN } from "../../../tools/local/local-aws.ts";
import { dynamoDbRequests } from "./dynamodb-requests.ts";
import type { IamRequest } from "./evaluate.ts";
import { arnOf } from "./resolve.ts";

/** A call as it goes over the wire: of SNS a form without the header `x-amz-target`, of the others JSON. */
export type WireCall = { readonly target: string | undefined; readonly body: string };

/** What the environment of the functions names: by their local names the tables, and the topic. */
type Named = Readonly<Record<string, string | undefined>>;

const queueCall = z.object({ QueueUrl: z.string() });
const secretCall = z.object({ SecretId: z.enum(secretNames) });
const keyCall = z.object({ KeyId: z.literal(IDENTITY_KEY_ARN), MacAlgorithm: z.string() });
const topicCall = z.partial(
  z.object({ Action: z.string(), TopicArn: z.string(), SubscriptionArn: z.string(), Protocol: z.string() }),
  { TopicArn: true, SubscriptionArn: true, Protocol: true },
);

const TABLES = ["Access", "Ledger", "Audit", "Cache"] as const;

/** What IAM is asked for a call of a function, with the names of the templates. */
export const requestsOf = ({ target, body }: WireCall, environment: Named): readonly IamRequest[] => {
  if (target === undefined)
    return [topicRequest(topicCall.parse(Object.fromEntries(new URLSearchParams(body))), environment)];
  const [service = "", operation = ""] = target.split(".");
  const input: unknown = JSON.parse(body);
  if (service.startsWith("DynamoDB")) {
    return dynamoDbRequests(operation, input, (table) => {
      const name = TABLES.find((each) => environment[`${each.toUpperCase()}_TABLE`] === table);
      return arnOf("AWS::DynamoDB::Table", name ?? table);
    });
  }
  if (service === "AmazonSQS") {
    const local = queueCall.parse(input).QueueUrl.split("/").at(-1) ?? "";
    // The ledger's stream and the schedules have dead letters of a stage's name only (`streamDeadLetters`).
    const queue = pascalCase(local.replace(/^.*-airtime-/, "").replace("-stream-", "-"));
    const resource = arnOf("AWS::SQS::Queue", queue.endsWith("DeadLetters") ? queue : `${queue}Queue`);
    // A batch needs the permission of its single call. Source: AWS, "Actions, resources, and condition keys for SQS".
    return [{ action: `sqs:${operation.replace(/Batch$/, "")}`, resource, context: {} }];
  }
  if (service === "TrentService") {
    const { MacAlgorithm } = keyCall.parse(input);
    const resource = arnOf("AWS::KMS::Key", "IdentityKey");
    return [{ action: `kms:${operation}`, resource, context: { "kms:MacAlgorithm": MacAlgorithm } }];
  }
  const { variable } = secretTable[secretCall.parse(input).SecretId];
  const resource = arnOf("AWS::SecretsManager::Secret", outputOf(variable.replace(/_SECRET_ID$/, "")));
  return [{ action: `${service}:${operation}`, resource, context: {} }];
};

const topicRequest = (
  { Action, TopicArn, SubscriptionArn = "", Protocol }: z.output<typeof topicCall>,
  { NOTIFICATIONS_TOPIC_ARN: own = "" }: Named,
): IamRequest => {
  // Unsubscribe names a subscription, and needs the permission for its topic.
  const topic = TopicArn ?? SubscriptionArn.replace(/:[^:]+$/, "");
  return {
    action: `sns:${Action}`,
    resource: topic === own ? arnOf("AWS::SNS::Topic", "Notifications") : topic,
    context: { ...(Protocol !== undefined && { "sns:Protocol": Protocol }) },
  };
};
