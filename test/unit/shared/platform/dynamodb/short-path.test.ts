import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { DynamoDBClient, type DynamoDBClientConfig } from "@aws-sdk/client-dynamodb";
import {
  DynamoDBDocumentClient,
  TransactWriteCommand,
  type TranslateConfig,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import * as z from "zod";
import { failedAttempts, withShortPath } from "../../../../../shared/platform/dynamodb/short-path.ts";
import { setEnvironment } from "../../../../../tools/local/local-aws.ts";

type Answer = (response: ServerResponse) => void;
type Seen = { readonly headers: IncomingHttpHeaders; readonly body: string };

const json = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Answer => {
  return (response) => response.writeHead(status, headers).end(JSON.stringify(body));
};
const ok = json(200, { Attributes: { pk: { S: "a" } } }, { "x-amzn-requestid": "R1" });
const refused = (status: number, type: string, message = type, headers = {}): Answer =>
  json(status, { __type: `com.amazonaws.dynamodb.v20120810#${type}`, message }, headers);
const noAnswer: Answer = () => {};
const cutOff: Answer = (response) => response.destroy();
const half = '{"Attributes":{"pk":';
const cutOffInBody: Answer = (response) => {
  response.writeHead(200, { "content-length": "100" }).write(half, () => response.destroy());
};
const refusedThenCutOff: Answer = (response) => {
  response.writeHead(400, { "content-length": "100" }).write(half);
  setTimeout(() => response.destroy(), 20);
};
const endlessBody: Answer = (response) => {
  response.writeHead(200, { "content-length": "100" }).write(half);
};

/** A server that gives these answers in order, and `ok` after them. */
const answers: Answer[] = [];
const seen: Seen[] = [];
const server = createServer(async (request, response) => {
  seen.push({ headers: request.headers, body: await text(request) });
  (answers.shift() ?? ok)(response);
});
let endpoint = "";

beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  endpoint = `http://127.0.0.1:${z.object({ port: z.number() }).parse(server.address()).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const open = (
  config: DynamoDBClientConfig = {},
  translation: TranslateConfig = { marshallOptions: { removeUndefinedValues: true } },
): DynamoDBDocumentClient =>
  DynamoDBDocumentClient.from(
    new DynamoDBClient({
      endpoint,
      region: "eu-west-1",
      credentials: { accessKeyId: "AKIA", secretAccessKey: "secret" },
      maxAttempts: 2,
      requestHandler: { connectionTimeout: 1_000, requestTimeout: 400, throwOnRequestTimeout: true },
      ...config,
    }),
    translation,
  );

const update = (): UpdateCommand =>
  new UpdateCommand({ TableName: "ledger", Key: { pk: "a" }, UpdateExpression: "SET n = :n", ReturnValues: "ALL_NEW" });
const debit = (token?: string): TransactWriteCommand =>
  new TransactWriteCommand({
    TransactItems: [{ Put: { TableName: "ledger", Item: { pk: "a" } } }],
    ClientRequestToken: token,
  });

const updatesBySdk = vi.spyOn(UpdateCommand.prototype, "resolveMiddleware");
const debitsBySdk = vi.spyOn(TransactWriteCommand.prototype, "resolveMiddleware");

beforeEach(() => {
  seen.length = 0;
  answers.length = 0;
  updatesBySdk.mockClear();
  debitsBySdk.mockClear();
});
afterEach(() => {
  vi.unstubAllEnvs();
});

/** The client after the call that goes through the SDK; the calls after it are the test's. */
const learned = async (db: DynamoDBDocumentClient): Promise<DynamoDBDocumentClient> => {
  await db.send(update());
  seen.length = 0;
  updatesBySdk.mockClear();
  return db;
};

const outcomeOf = async (call: Promise<unknown>): Promise<unknown> => {
  try {
    return { output: await call };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { class: error.constructor, name: error.name, message: error.message, fields: { ...error } };
  }
};

describe("faults", () => {
  const skewed = { date: new Date(Date.now() + 600_000).toUTCString() };
  const cases: [fault: string, answers: readonly Answer[], abortMs?: number][] = [
    ["no answer within the time-out", [noAnswer]],
    ["no answer within the time-out, twice", [noAnswer, noAnswer]],
    ["a connection that is cut off before the answer", [cutOff]],
    ["a connection that is cut off before the answer, twice", [cutOff, cutOff]],
    ["a connection that is cut off within the answer", [cutOffInBody]],
    ["an answer that is not JSON", [(response) => response.writeHead(200).end(half)]],
    ["an answer without a body", [(response) => response.writeHead(200).end()]],
    ["an answer with a wrong CRC-32", [json(200, {}, { "x-amz-crc32": "1" })]],
    ["a status 500", [refused(500, "InternalServerError")]],
    ["a status 503 without a body, twice", [(r) => r.writeHead(503).end(), (r) => r.writeHead(503).end()]],
    ["throttling", [refused(400, "ThrottlingException")]],
    ["throttling, twice", [refused(400, "ThrottlingException"), refused(400, "ThrottlingException")]],
    ["expired credentials", [refused(400, "ExpiredTokenException")]],
    ["a wrong clock", [refused(400, "InvalidSignatureException", "Signature expired", skewed)]],
    ["a failed condition", [json(400, { __type: "x#ConditionalCheckFailedException", Item: { pk: { B: "AA==" } } })]],
    ["an abort before the call", [], 0],
    ["an abort while the answer is awaited", [noAnswer], 50],
    ["an abort within the answer", [endlessBody], 50],
  ];

  test.each(cases)("after %s the short path has the SDK's outcome and attempts", async (_fault, given, abortMs) => {
    vi.spyOn(Math, "random").mockReturnValue(0);
    const runs: unknown[] = [];
    for (const db of [open(), withShortPath(open())]) {
      await learned(db);
      answers.splice(0, answers.length, ...given);
      const options = abortMs !== undefined && { abortSignal: abortAfter(abortMs) };
      const outcome = await outcomeOf(db.send(update(), { ...options }));
      const next = await outcomeOf(db.send(update()));
      const ids = seen.map(({ headers }) => headers["amz-sdk-invocation-id"]);
      runs.push({
        outcome,
        next,
        attempts: seen.map(({ headers, body }) => [headers["amz-sdk-request"], body]),
        sameId: ids.map((id) => ids.indexOf(id)),
        clockMinutes: seen.map(({ headers }) => Math.round(minutesFromNow(String(headers["x-amz-date"])))),
      });
    }
    expect(runs[1]).toEqual(runs[0]);
    vi.mocked(Math.random).mockRestore();
  });

  test("after a refusal that is cut off while the SDK fetches credentials again the short path has the SDK's outcome", async () => {
    vi.spyOn(Math, "random").mockReturnValue(0);
    const credentials = async () => {
      await sleep(100);
      return { accessKeyId: "AKIA", secretAccessKey: "secret", expiration: new Date(0) };
    };
    const runs: unknown[] = [];
    for (const db of [open({ credentials }), withShortPath(open({ credentials }))]) {
      await learned(db);
      answers.push(refusedThenCutOff);
      runs.push(await outcomeOf(db.send(update())));
    }
    expect(runs[1]).toEqual(runs[0]);
    vi.mocked(Math.random).mockRestore();
  });

  test("after a refused connection the short path has the SDK's outcome", async () => {
    vi.spyOn(Math, "random").mockReturnValue(0);
    const runs: unknown[] = [];
    for (const db of [open(), withShortPath(open())]) {
      await learned(db);
      const { config } = db;
      // A port on which no server listens any more.
      const closed = createServer().listen(0, "127.0.0.1");
      await once(closed, "listening");
      const { port } = z.object({ port: z.number() }).parse(closed.address());
      closed.close();
      const handle = config.requestHandler.handle.bind(config.requestHandler);
      vi.spyOn(config.requestHandler, "handle").mockImplementation((request, options) =>
        handle({ ...request, port }, options),
      );
      const { message: _message, ...outcome } = Object(await outcomeOf(db.send(update())));
      runs.push({ ...outcome, fields: { ...outcome.fields, port: 0 } });
    }
    expect(runs[1]).toEqual(runs[0]);
    vi.mocked(Math.random).mockRestore();
  });
});

const abortAfter = (ms: number): AbortSignal => (ms === 0 ? AbortSignal.abort() : AbortSignal.timeout(ms));

/** `20261122T101530Z` */
const minutesFromNow = (date: string): number => {
  const iso = date.replace(/^(\d{4})(\d\d)(\d\dT\d\d)(\d\d)(\d\dZ)$/, "$1-$2-$3:$4:$5");
  return (Date.parse(iso) - Date.now()) / 60_000;
};

describe("calls that take the short path", () => {
  test("the first call of each kind goes through the SDK, and later ones do not", async () => {
    const db = withShortPath(open());
    for (let call = 0; call < 3; call += 1) {
      expect((await db.send(update())).Attributes).toEqual({ pk: "a" });
      answers.push(json(200, {}));
      await db.send(debit("t"));
    }
    expect(updatesBySdk).toHaveBeenCalledTimes(1);
    expect(debitsBySdk).toHaveBeenCalledTimes(1);
    expect(seen).toHaveLength(6);
  });

  test("an answer with binary values, such as a key's whitelist, is read without the SDK", async () => {
    const db = withShortPath(open());
    await learned(db);
    answers.push(json(200, { Attributes: { whitelist: { BS: ["IH8AAAE="] }, B: { B: "AQ==" } } }));
    const { Attributes } = await db.send(update());
    expect(Attributes).toEqual({ whitelist: new Set([Uint8Array.of(32, 127, 0, 0, 1)]), B: Uint8Array.of(1) });
    expect(updatesBySdk).not.toHaveBeenCalled();
  });

  test("a transaction without a token goes through the SDK, which generates one", async () => {
    const db = withShortPath(open());
    answers.push(...Array.from({ length: 3 }, () => json(200, {})));
    for (const token of ["t", undefined, "t"]) await db.send(debit(token));
    expect(debitsBySdk).toHaveBeenCalledTimes(2);
    expect(seen[1]?.body).toMatch(/"ClientRequestToken":"[-0-9a-f]{36}"/);
  });

  test("a middleware that is added to a client with a short path runs", async () => {
    const db = await learned(withShortPath(open()));
    const ran = vi.fn();
    db.middlewareStack.add(
      (next) => (args) => {
        ran();
        return next(args);
      },
      { step: "initialize", name: "added" },
    );
    await db.send(update());
    expect(ran).toHaveBeenCalledTimes(1);
    db.middlewareStack.remove("added");
    await db.send(update());
    expect(updatesBySdk).toHaveBeenCalledTimes(1);
  });

  test("a command's own middleware runs, although the client has a short path", async () => {
    const db = await learned(withShortPath(open()));
    const ran = vi.fn();
    const command = update();
    command.middlewareStack.add(
      (next) => (args) => {
        ran();
        return next(args);
      },
      { step: "initialize" },
    );
    await db.send(command);
    expect(ran).toHaveBeenCalled();
  });

  test("a call with a middleware for failed attempts takes the short path, and the middleware gets each failure", async () => {
    const db = await learned(withShortPath(open()));
    const failures: string[] = [];
    const withRecorder = (): UpdateCommand => {
      const command = update();
      command.middlewareStack.add(
        (next) => (args) =>
          next(args).catch((error: Error) => {
            failures.push(error.name);
            throw error;
          }),
        failedAttempts,
      );
      return command;
    };
    await db.send(withRecorder());
    expect(updatesBySdk).not.toHaveBeenCalled();
    answers.push(refused(400, "ThrottlingException"), refused(500, "InternalServerError"));
    await expect(db.send(withRecorder())).rejects.toThrow("InternalServerError");
    expect(failures).toEqual(["ThrottlingException", "InternalServerError"]);
  });

  test("a call with an option that the short path does not know goes through the SDK", async () => {
    const db = await learned(withShortPath(open()));
    await db.send(update(), { requestTimeout: 300 });
    expect(updatesBySdk).toHaveBeenCalledTimes(1);
  });

  test("after a change of credentials one call goes through the SDK, and they sign the calls that follow", async () => {
    let accessKeyId = "AKIA1";
    const credentials = async () => ({ accessKeyId, secretAccessKey: "s", expiration: new Date(0) });
    const db = await learned(withShortPath(open({ credentials })));
    await db.send(update());
    accessKeyId = "AKIA2";
    await db.send(update());
    await db.send(update());
    const keys = seen.map(({ headers }) => /Credential=(\w+)/.exec(headers.authorization ?? "")?.[1]);
    expect(keys).toEqual(["AKIA1", "AKIA2", "AKIA2"]);
    expect(updatesBySdk).toHaveBeenCalledTimes(1);
  });

  test.each([
    ["another retry mode", { retryMode: "adaptive" }],
    ["clock correction switched off", { disableClockSkewCorrection: true }],
  ])("a client with %s sends every call through the SDK", async (_difference, config) => {
    const db = await learned(withShortPath(open(config)));
    await db.send(update());
    expect(updatesBySdk).toHaveBeenCalledTimes(1);
  });

  test.each([
    ["to empty values in a call", { marshallOptions: { removeUndefinedValues: true, convertEmptyValues: true } }],
    [
      "to numbers in an answer",
      { marshallOptions: { removeUndefinedValues: true }, unmarshallOptions: { wrapNumbers: true } },
    ],
  ])(
    "a document client that does something else %s sends every call through the SDK",
    async (_difference, translation) => {
      const inputs = [update(), update()].map(({ input }) => ({ ...input, ExpressionAttributeValues: { ":n": "" } }));
      const runs: unknown[] = [];
      for (const db of [open({}, translation), withShortPath(open({}, translation))]) {
        await learned(db);
        const outputs: unknown[] = [];
        for (const input of inputs) {
          answers.push(json(200, { Attributes: { n: { N: "1" } } }));
          outputs.push((await db.send(new UpdateCommand(input))).Attributes);
        }
        runs.push([outputs, seen.map(({ body }) => body)]);
      }
      expect(runs[1]).toEqual(runs[0]);
    },
  );

  test("a client whose requests have a header that the short path does not know sends every call through the SDK", async () => {
    const db = open();
    db.middlewareStack.add(
      (next) => (args) => {
        Object.assign(Reflect.get(Object(args.request), "headers"), { "x-other": "1" });
        return next(args);
      },
      { step: "build" },
    );
    await learned(withShortPath(db));
    await db.send(update());
    expect(updatesBySdk).toHaveBeenCalledTimes(1);
    expect(seen[0]?.headers["x-other"]).toBe("1");
  });

  test("each call on Lambda carries the trace of its own invocation", async () => {
    const db = await learned(withShortPath(open()));
    const restore = setEnvironment({ AWS_LAMBDA_FUNCTION_NAME: "purchase", _X_AMZN_TRACE_ID: "Root=1" });
    try {
      await db.send(update());
      await db.send(update());
      process.env._X_AMZN_TRACE_ID = "Root=2";
      await db.send(update());
    } finally {
      restore();
    }
    expect(seen.map(({ headers }) => headers["x-amzn-trace-id"])).toEqual(["Root=1", "Root=1", "Root=2"]);
    expect(updatesBySdk).toHaveBeenCalledTimes(1);
  });
});
