import { hash } from "node:crypto";
import type { BatchResultErrorEntry } from "@aws-sdk/client-sqs";
import { base64Of, bytesOf, type DocumentOutput, documentInput, documentOutput } from "./json.ts";

/** How a service is called: by JSON in a POST, whose header names the operation. */
export type Service<Output> = {
  /** In the host of its endpoint, and in the scope of signatures. */
  readonly id: string;
  /** The end of the environment variable with another endpoint. */
  readonly variable: string;
  /** Headers of all requests of the service. */
  readonly headers: Readonly<Record<string, string>>;
  /** The prefix of the operation in the header `x-amz-target`. */
  readonly target: string;
  readonly write: (input: object) => unknown;
  /** The output, of the JSON of a 200; undefined if the SDK must decide. */
  readonly read: (answer: object, input: object) => Output | undefined;
};

type Metadata = { readonly $metadata?: object };
export type SecretOutput = Metadata & {
  readonly SecretString?: string | undefined;
  readonly CreatedDate?: Date | undefined;
};
export type SentOutput = Metadata & {
  readonly MessageId?: string | undefined;
  readonly Failed?: BatchResultErrorEntry[] | undefined;
};
export type MacOutput = Metadata & { readonly Mac?: Uint8Array | undefined };

const json = (version: "1.0" | "1.1") => ({ "content-type": `application/x-amz-json-${version}` });
const asIs = (input: object): object => input;

export const dynamoDb: Service<DocumentOutput> = {
  ...{ id: "dynamodb", variable: "DYNAMODB", headers: json("1.0"), target: "DynamoDB_20120810" },
  write: documentInput,
  read: documentOutput,
};

export const secretsManager: Service<SecretOutput> = {
  ...{ id: "secretsmanager", variable: "SECRETS_MANAGER", headers: json("1.1"), target: "secretsmanager" },
  write: asIs,
  // In seconds.
  read: ({ SecretString, CreatedDate }: { SecretString?: string; CreatedDate?: number }) => ({
    SecretString,
    CreatedDate: CreatedDate === undefined ? undefined : new Date(CreatedDate * 1_000),
  }),
};

/** As the SDK, it checks that SQS has the texts of messages. */
export const sqs: Service<SentOutput> = {
  ...{ id: "sqs", variable: "SQS", target: "AmazonSQS" },
  headers: { ...json("1.0"), "x-amzn-query-mode": "true" },
  write: asIs,
  read: (answer: SentAnswer, { MessageBody, Entries = [{ MessageBody }] }: SentMessages) => {
    const sent = Entries.filter((entry) => entry.MessageBody !== undefined);
    const taken: readonly SentAnswer[] = answer.Successful ?? (sent.length === 0 || answer.Failed ? [] : [answer]);
    const textOf = (id: string | undefined) => sent.find(({ Id }) => Id === id)?.MessageBody ?? "";
    return taken.every(({ Id, MD5OfMessageBody }) => MD5OfMessageBody === hash("md5", textOf(Id))) ? answer : undefined;
  },
};
type Message = { readonly Id?: string; readonly MessageBody?: string };
type SentMessages = Message & { readonly Entries?: readonly Message[] };
type SentAnswer = SentOutput & {
  readonly Id?: string;
  readonly MD5OfMessageBody?: string;
  readonly Successful?: readonly SentAnswer[];
};

export const kms: Service<MacOutput> = {
  ...{ id: "kms", variable: "KMS", headers: json("1.1"), target: "TrentService" },
  write: (input: { Message?: Uint8Array }) => ({ ...input, Message: input.Message && base64Of(input.Message) }),
  read: ({ Mac }: { Mac?: string }) => (Mac === undefined ? undefined : { Mac: bytesOf(Mac) }),
};
