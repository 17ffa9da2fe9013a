import { CreateTableCommand } from "@aws-sdk/client-dynamodb";
import {
  BatchGetCommand,
  DeleteCommand,
  type DynamoDBDocument,
  GetCommand,
  PutCommand,
  QueryCommand,
  ScanCommand,
  TransactWriteCommand,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";
import { textOf } from "../../../shared/platform/aws/json.ts";
import { dynamoDb } from "../../../shared/platform/aws/services.ts";
import { endOf } from "../../../shared/platform/aws/short-path.ts";
import type { Forward } from "../../strict/wire.ts";
import { recordDirectCall } from "./recorded-calls.ts";

const operations = [
  [GetCommand, "GetItem"],
  [QueryCommand, "Query"],
  [BatchGetCommand, "BatchGetItem"],
  [PutCommand, "PutItem"],
  [UpdateCommand, "UpdateItem"],
  [DeleteCommand, "DeleteItem"],
  [ScanCommand, "Scan"],
  [TransactWriteCommand, "TransactWriteItems"],
] as const;

/** A command with the name of its operation; undefined for one that is sent by the SDK. */
const callOf = (command: unknown) => {
  for (const [kind, operation] of operations) if (command instanceof kind) return { operation, command };
  return undefined;
};

/**
 * Has a test's calls bypass the SDK, which takes several times as long as the emulator, and be written and read as those of
 * functions are. What can be aborted, has a canned answer or is refused for a reason that the service does not expect
 * takes the SDK's way.
 */
export const withDirectCalls = (
  db: DynamoDBDocument,
  forward: Forward,
  isDirect: () => boolean = () => true,
): DynamoDBDocument => {
  const { send: sendBySdk } = db;
  const send = async (...args: readonly unknown[]): Promise<unknown> => {
    const [command, options] = args;
    if (command instanceof CreateTableCommand && (await forward("CreateTable", textOf(command.input))).status === 200)
      return {};
    const isAbortable = options instanceof Object && Reflect.get(options, "abortSignal") !== undefined;
    const call = isDirect() && !isAbortable ? callOf(command) : undefined;
    if (call === undefined || !recordDirectCall(call.command)) return Reflect.apply(sendBySdk, db, args);
    const { input } = call.command;
    const { status: statusCode, body } = await forward(call.operation, textOf(dynamoDb.write(input)));
    const end = endOf(dynamoDb, input, { statusCode, body });
    if (end?.kind === "failed") throw end.error;
    return end === undefined ? Reflect.apply(sendBySdk, db, args) : end.output;
  };
  return Object.assign(db, { send });
};
