import { randomUUID } from "node:crypto";
import type { GenerateMacCommandInput } from "@aws-sdk/client-kms";
import type { GetSecretValueCommandInput } from "@aws-sdk/client-secrets-manager";
import type { ListSubscriptionsByTopicCommandInput, PublishCommandInput } from "@aws-sdk/client-sns";
import type {
  ChangeMessageVisibilityCommandInput,
  SendMessageBatchCommandInput,
  SendMessageCommandInput,
} from "@aws-sdk/client-sqs";
import type {
  BatchGetCommandInput,
  GetCommandInput,
  PutCommandInput,
  QueryCommandInput,
  TransactWriteCommandInput,
  UpdateCommandInput,
} from "@aws-sdk/lib-dynamodb";
import type { DocumentOutput } from "./aws/json.ts";
import {
  dynamoDb,
  kms,
  type MacOutput,
  type SecretOutput,
  type SentOutput,
  secretsManager,
  sqs,
} from "./aws/services.ts";
import { type Call, callsOf } from "./aws/short-path.ts";

/** DynamoDB's operations on items. The SDK's `DynamoDBDocument` has them too. */
export type DocumentClient = {
  readonly get: Call<GetCommandInput, DocumentOutput>;
  readonly put: Call<PutCommandInput, DocumentOutput>;
  readonly update: Call<UpdateCommandInput, DocumentOutput>;
  readonly query: Call<QueryCommandInput, DocumentOutput>;
  readonly batchGet: Call<BatchGetCommandInput, DocumentOutput>;
  readonly transactWrite: Call<TransactWriteCommandInput, DocumentOutput>;
};

export const documentClient = (): DocumentClient => {
  const call = callsOf(dynamoDb, (sdk, handler) => sdk.openDynamoDb(handler));
  const transactWrite = call("TransactWriteItems", (client, input: TransactWriteCommandInput, options) =>
    client.transactWrite(input, options),
  );
  return {
    get: call("GetItem", (client, input, options) => client.get(input, options)),
    put: call("PutItem", (client, input, options) => client.put(input, options)),
    update: call("UpdateItem", (client, input, options) => client.update(input, options)),
    query: call("Query", (client, input, options) => client.query(input, options)),
    batchGet: call("BatchGetItem", (client, input, options) => client.batchGet(input, options)),
    // All attempts of one call have one token, so that DynamoDB carries out one of them.
    transactWrite: ({ ClientRequestToken = randomUUID(), ...input }, options) =>
      transactWrite({ ClientRequestToken, ...input }, options),
  };
};

/** What functions do with the messages of SQS. The SDK's `SQS` has it too. */
export type QueueClient = {
  readonly sendMessage: Call<SendMessageCommandInput, SentOutput>;
  readonly sendMessageBatch: Call<SendMessageBatchCommandInput, SentOutput>;
  readonly changeMessageVisibility: Call<ChangeMessageVisibilityCommandInput, SentOutput>;
};

export const queueClient = (): QueueClient => {
  const call = callsOf(sqs, (sdk, handler) => sdk.openSqs(handler));
  return {
    sendMessage: call("SendMessage", (client, input, options) => client.sendMessage(input, options)),
    sendMessageBatch: call("SendMessageBatch", (client, input, options) => client.sendMessageBatch(input, options)),
    changeMessageVisibility: call("ChangeMessageVisibility", (client, input, options) =>
      client.changeMessageVisibility(input, options),
    ),
  };
};

/** The reading of secrets. The SDK's `SecretsManager` has it too. */
export type SecretsClient = { readonly getSecretValue: Call<GetSecretValueCommandInput, SecretOutput> };

export const secretsClient = (): SecretsClient => {
  const call = callsOf(secretsManager, (sdk, handler) => sdk.openSecretsManager(handler));
  return { getSecretValue: call("GetSecretValue", (client, input, options) => client.getSecretValue(input, options)) };
};

/**
 * Sends messages to topics of SNS, and lists who gets them. They are few, and SNS takes no JSON, which the short path is made of: the SDK sends
 * them.
 */
export const notificationsClient = () => {
  let opened: ReturnType<typeof import("#aws-sdk")["openSns"]> | undefined;
  const open = async () => {
    opened ??= (await import("#aws-sdk")).openSns();
    return opened;
  };
  return {
    publish: async (input: PublishCommandInput) => (await open()).publish(input),
    listSubscriptionsByTopic: async (input: ListSubscriptionsByTopicCommandInput) =>
      (await open()).listSubscriptionsByTopic(input),
  };
};

/** The use of keys of KMS. */
export type KeysClient = { readonly generateMac: Call<GenerateMacCommandInput, MacOutput> };

export const keysClient = (): KeysClient => {
  const call = callsOf(kms, (sdk, handler) => sdk.openKms(handler));
  return { generateMac: call("GenerateMac", (client, input, options) => client.generateMac(input, options)) };
};
