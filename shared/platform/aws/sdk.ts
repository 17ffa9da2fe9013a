import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { KMS } from "@aws-sdk/client-kms";
import { SecretsManager } from "@aws-sdk/client-secrets-manager";
import {
  ListSubscriptionsByTopicCommand,
  type ListSubscriptionsByTopicCommandInput,
  PublishCommand,
  type PublishCommandInput,
  SNSClient,
  SubscribeCommand,
  type SubscribeCommandInput,
  UnsubscribeCommand,
  type UnsubscribeCommandInput,
} from "@aws-sdk/client-sns";
import { SQS } from "@aws-sdk/client-sqs";
import { DynamoDBDocument } from "@aws-sdk/lib-dynamodb";
import { AWS_ATTEMPTS_MAX } from "../time-budgets.ts";
import { CallHandler } from "./call-handler.ts";

/**
 * The SDK's clients. In a bundle this is a file of its own, which is loaded by the first call that needs the SDK
 * (decision 0025).
 */
const options = (requestHandler = new CallHandler()) => ({ maxAttempts: AWS_ATTEMPTS_MAX, requestHandler });

/** What needs operations that functions do not use, such as a scan. */
export type WithSdk = { readonly db: DynamoDBDocument };

export const openDynamoDb = (handler?: CallHandler): DynamoDBDocument =>
  documentOf(new DynamoDBClient(options(handler)));

/** The error of each failed attempt has those of the attempts before it. */
export const documentOf = (client: DynamoDBClient): DynamoDBDocument => {
  // It copies each input and output for a logger that logs nothing: a fifth of the CPU time of a large read.
  client.middlewareStack.remove("loggerMiddleware");
  client.middlewareStack.add(
    (next) => {
      const earlierAttempts: unknown[] = [];
      return async (args) => {
        try {
          return await next(args);
        } catch (error) {
          if (error instanceof Error) Object.assign(error, { earlierAttempts: [...earlierAttempts] });
          earlierAttempts.push(error);
          throw error;
        }
      };
    },
    { step: "finalizeRequest", priority: "low", name: "earlierAttempts" },
  );
  return DynamoDBDocument.from(client, { marshallOptions: { removeUndefinedValues: true } });
};

export const openSecretsManager = (handler?: CallHandler): SecretsManager => new SecretsManager(options(handler));

/** The region's endpoint is used rather than the queue's URL, whose host an emulator cannot always resolve. */
export const openSqs = (handler?: CallHandler): SQS => new SQS({ ...options(handler), useQueueUrlAsEndpoint: false });

/** The operations of SNS that functions use; the SDK's own `SNS` would add all others to the file. */
export const openSns = () => {
  const client = new SNSClient(options());
  return {
    publish: (input: PublishCommandInput) => client.send(new PublishCommand(input)),
    subscribe: (input: SubscribeCommandInput) => client.send(new SubscribeCommand(input)),
    unsubscribe: (input: UnsubscribeCommandInput) => client.send(new UnsubscribeCommand(input)),
    listSubscriptionsByTopic: (input: ListSubscriptionsByTopicCommandInput) =>
      client.send(new ListSubscriptionsByTopicCommand(input)),
    destroy: () => client.destroy(),
  };
};

export const openKms = (handler?: CallHandler): KMS => new KMS(options(handler));
