import assert from "node:assert";
import { Readable } from "node:stream";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, TransactWriteCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { withShortPath } from "../../../../../shared/platform/dynamodb/short-path.ts";
import { type AttemptResult, attemptResult, transactWriteInput, updateInput } from "./arbitrary-calls.ts";

/** Calls of each command for each seed; `npm run test:calls` compares more. */
const RUNS = Number(process.env.CALLS ?? 500);
/** A fixed seed, and a new one. */
const SEEDS = process.env.CALLS_SEED ? [Number(process.env.CALLS_SEED)] : [20_261_122, Date.now() % 1_000_000_000];

type Sent = { readonly headers: Record<string, string>; readonly body: Uint8Array };
type Client = {
  readonly db: DynamoDBDocumentClient;
  /** How the attempts of the next call end, in order; the last one repeats. */
  script: readonly AttemptResult[];
  readonly sent: Sent[];
};

/** A client whose requests are answered by its script. */
const openClient = (): Client => {
  const handle = async ({ headers, body, ...request }: Sent): Promise<unknown> => {
    const result = client.script[Math.min(client.sent.length, client.script.length - 1)];
    client.sent.push({ ...request, headers: { ...headers }, body: Buffer.copyBytesFrom(body) });
    if (result === undefined) throw new Error("The script is empty");
    if (result.kind === "error") throw Object.assign(new Error(result.code), { code: result.code, name: result.name });
    const { date, ...others } = result.headers;
    const seconds = Number(date);
    const dated = Number.isNaN(seconds) ? date : new Date(Date.now() + seconds * 1_000).toUTCString();
    return {
      response: {
        statusCode: result.status,
        headers: { ...others, ...(date !== undefined && { date: dated }) },
        body: Readable.from(bytesOf(result)),
      },
    };
  };
  const db = DynamoDBDocumentClient.from(
    new DynamoDBClient({
      region: "eu-west-1",
      credentials: { accessKeyId: "AKIA", secretAccessKey: "secret", sessionToken: "token", accountId: "123456789012" },
      maxAttempts: 2,
      requestHandler: { handle },
    }),
    { marshallOptions: { removeUndefinedValues: true } },
  );
  const client: Client = { db, script: [], sent: [] };
  return client;
};

async function* bytesOf({ kind, body }: Exclude<AttemptResult, { kind: "error" }>): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(body);
  const half = bytes.length >> 1;
  if (half > 0) yield bytes.subarray(0, half);
  if (kind === "broken_off") throw Object.assign(new Error("aborted"), { code: "ECONNRESET" });
  if (bytes.length > half) yield bytes.subarray(half);
}

/** The output of a call, or all parts of its error. */
const outcomeOf = async (call: Promise<unknown>): Promise<unknown> => {
  try {
    return { output: await call };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const response: unknown = Reflect.get(error, "$response");
    return {
      class: error.constructor,
      name: error.name,
      message: error.message,
      fields: { ...error },
      response: response && { status: Reflect.get(response, "statusCode"), headers: Reflect.get(response, "headers") },
    };
  }
};

const stateOf = async ({ db: { config } }: Client): Promise<unknown> => {
  const strategy = await config.retryStrategy();
  return { clockOffsetMs: config.systemClockOffset, capacity: Reflect.get(strategy, "capacity") };
};

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
  // The delay before a retry is 0.
  vi.spyOn(Math, "random").mockReturnValue(0);
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

test.each([
  ["UpdateCommand", UpdateCommand, updateInput],
  ["TransactWriteCommand", TransactWriteCommand, transactWriteInput],
] as const)(
  "a random %s by the short path has the SDK's requests, output, error, attempts, clock and retry quota",
  { timeout: 120_000 + RUNS * 100 },
  async (_name, Command, inputs) => {
    const short = openClient();
    const sdk = openClient();
    withShortPath(short.db);
    // The only random part of a request: the client without the short path gets the id of the other's call.
    sdk.db.middlewareStack.addRelativeTo(
      <Args extends { request: unknown }, Result>(next: (args: Args) => Promise<Result>) =>
        (args: Args) => {
          Object.assign(Reflect.get(Object(args.request), "headers"), {
            "amz-sdk-invocation-id": short.sent[0]?.headers["amz-sdk-invocation-id"],
          });
          return next(args);
        },
      { relation: "before", toMiddleware: "awsAuthMiddleware", name: "sameId" },
    );
    const usedSdk = vi.spyOn(Command.prototype, "resolveMiddleware");
    let runs = 0;
    let shortRuns = 0;

    const compare = async (input: unknown, script: readonly AttemptResult[], time: Date): Promise<void> => {
      vi.setSystemTime(time);
      const outcomes: unknown[] = [];
      usedSdk.mockClear();
      for (const client of [short, sdk]) {
        client.script = script;
        client.sent.length = 0;
        outcomes.push(await outcomeOf(client.db.send(Reflect.construct(Command, [input]))));
        outcomes.push(await stateOf(client));
      }
      runs += 1;
      if (short.sent.length > 0 && usedSdk.mock.calls.length === 1) shortRuns += 1;
      // Vitest's own comparison mistakes a member `constructor` for the class.
      assert.deepStrictEqual(short.sent.map(entriesOf), sdk.sent.map(entriesOf));
      assert.deepStrictEqual(outcomes.slice(0, 2), outcomes.slice(2));
    };

    const run = (seed: number) => {
      console.log(`${RUNS} calls; CALLS_SEED=${seed} repeats them`);
      const script = fc.array(attemptResult, { minLength: 1, maxLength: 2 });
      const time = fc.date({ min: new Date("2026-01-01"), max: new Date("2027-01-01"), noInvalidDate: true });
      return fc.assert(fc.asyncProperty<[unknown, AttemptResult[], Date]>(inputs, script, time, compare), {
        numRuns: RUNS,
        seed,
      });
    };
    for (const seed of SEEDS) await run(seed);
    console.log(`${shortRuns} of ${runs} calls took the short path to their end`);
    // About a third of many calls. The few of a short run may by chance hold fewer.
    expect(shortRuns / runs).toBeGreaterThan(RUNS < 100 ? 0.05 : 0.2);
  },
);

/** Headers in their order. */
const entriesOf = ({ headers, body, ...request }: Sent): unknown => ({
  ...request,
  headers: Object.entries(headers),
  body: Buffer.from(body).toString("latin1"),
});
