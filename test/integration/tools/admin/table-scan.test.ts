import { DynamoDBServiceException } from "@aws-sdk/client-dynamodb";
import type { DynamoDBDocument } from "@aws-sdk/lib-dynamodb";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { UnprocessedKeysError } from "../../../../shared/ledger/get-item.ts";
import { carryItems } from "../../../../tools/admin/carry-over/items.ts";
import { type Item, readItemMap, scanTable } from "../../../../tools/admin/table-scan.ts";
import { dynamodbEndpoint } from "../../../builders/dynamodb/emulator.ts";
import { emulatorClientAt } from "../../../builders/dynamodb/emulator-client.ts";
import { freshTables } from "../../../builders/dynamodb/tables.ts";

const logProgress = (): void => {};
const serviceError = (name: string, httpStatusCode: number): DynamoDBServiceException =>
  new DynamoDBServiceException({
    name,
    message: name,
    $fault: httpStatusCode < 500 ? "client" : "server",
    $metadata: { httpStatusCode },
  });
const networkError = (code: string): Error => Object.assign(new Error(code), { code });

/** Errors that a retry would get again. */
const permanent: readonly (readonly [string, Error])[] = [
  ["AccessDeniedException", serviceError("AccessDeniedException", 400)],
  ["ValidationException", serviceError("ValidationException", 400)],
  ["ExpiredTokenException", serviceError("ExpiredTokenException", 400)],
  ["a programming error", new TypeError("undefined is not a function")],
];
/** Errors after which a retry may succeed. */
const transient: readonly (readonly [string, Error])[] = [
  ["ThrottlingException", serviceError("ThrottlingException", 400)],
  ["ProvisionedThroughputExceededException", serviceError("ProvisionedThroughputExceededException", 400)],
  ["InternalServerError", serviceError("InternalServerError", 500)],
  ["a time-out", Object.assign(new Error("timed out"), { name: "TimeoutError" })],
  ["a broken connection", networkError("ECONNRESET")],
  ["a name that is not resolved", networkError("EAI_AGAIN")],
  ["unprocessed keys", new UnprocessedKeysError()],
];

let db: DynamoDBDocument;
let from: string;
let to: string;
/** The first calls of the command `failing` throw these errors, in this order. */
let errors: Error[];
let failing: string;
let calls: number;

beforeAll(async () => {
  // The SDK's own, for its middleware makes the errors.
  ({ db, ledgerTable: from, cacheTable: to } = await freshTables(emulatorClientAt(dynamodbEndpoint)));
  await db.put({ TableName: from, Item: { pk: "consent#1", action: "test" } });
  db.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        if (commandName !== failing) return next(args);
        calls += 1;
        const error = errors.shift();
        if (error !== undefined) throw error;
        return next(args);
      },
    { step: "initialize", priority: "high" },
  );
});
afterAll(() => db.destroy());
beforeEach(async () => {
  calls = 0;
  await db.delete({ TableName: to, Key: { pk: "consent#1" } });
});

const failWith = (command: string, ...thrown: readonly Error[]): void => {
  failing = command;
  errors = [...thrown];
};
const scan = async (): Promise<readonly string[]> => {
  const pks: string[] = [];
  const onPage = async (items: readonly Item[]) => void pks.push(...items.map(({ pk }) => pk));
  await scanTable(db, from, { onPage, logProgress });
  return pks;
};
const read = async (): Promise<readonly string[]> => [...(await readItemMap(db, from, ["consent#1"])).keys()];
const carry = async (): Promise<readonly string[]> => {
  await carryItems({ db, from, to }, { isDryRun: false, logProgress });
  return [...(await readItemMap(db, to, ["consent#1"])).keys()];
};
const SEGMENTS = 8;

// Which errors are transient is tested with the scan; the others retry by the same rule.
describe.each([
  { name: "a scan of a table", command: "ScanCommand", run: scan, callsOnce: SEGMENTS, permanent, transient },
  {
    ...{ name: "a batch of reads", command: "BatchGetItemCommand", run: read, callsOnce: 1 },
    ...{ permanent: permanent.slice(0, 1), transient: transient.slice(-1) },
  },
  {
    ...{ name: "a write of a carry-over", command: "PutItemCommand", run: carry, callsOnce: 1 },
    ...{ permanent: permanent.slice(0, 1), transient: transient.slice(0, 1) },
  },
])("$name", ({ name, command, run, callsOnce, ...own }) => {
  test.each(own.permanent)(`${name} that gets %s fails at once with that error`, async (_title, error) => {
    failWith(command, error);
    await expect(run()).rejects.toBe(error);
    expect(calls).toBe(callsOnce);
  });

  test.each(own.transient)(`${name} that gets %s is retried`, async (_title, error) => {
    failWith(command, error);
    expect(await run()).toEqual(["consent#1"]);
    expect(calls).toBe(callsOnce + 1);
  });
});
