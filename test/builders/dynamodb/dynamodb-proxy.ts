import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import * as z from "#zod";
import { sum } from "../../../shared/platform/sum.ts";
import { listenOnLoopback } from "../../../tools/local/loopback.ts";
import { inProgressAnswer } from "../../strict/answers.ts";
import { type StrictAnswer, type StrictDynamoDb, type StrictTime, strictDynamoDb } from "../../strict/dynamodb.ts";
import { refusalOf, type WireFault } from "../../strict/faults.ts";
import type { StrictSettings } from "../../strict/settings.ts";
import { DYNAMODB_STREAMS, forwardTo, type WireAnswer } from "../../strict/wire.ts";

/** One DynamoDB call as it went over the wire, with what it consumed. */
type SeenCall = {
  readonly operation: string;
  readonly tables: readonly string[];
  readonly tableUnits: number;
  readonly indexUnits: number;
  readonly unitsByIndex: Readonly<Record<string, number>>;
};

/** Stands between the SDK and the emulator: counts calls and their capacity, and injects faults on the wire. */
export type DynamoDbProxy = {
  readonly endpoint: string;
  readonly calls: SeenCall[];
  /** Whether `calls` has the reads that an instance repeats after a time too, which are no part of a request. */
  countsTimedReads: boolean;
  /** Asked for each call; undefined lets it pass. */
  fault: (call: { readonly operation: string; readonly body: string }) => WireFault | "in_progress" | undefined;
  /** Lets the calls take effect that land late. */
  readonly landLateWrites: () => Promise<void>;
  /** The strict layer behind the faults (test/strict); undefined is the emulator alone. */
  strict: StrictDynamoDb | undefined;
  /** Replaces the strict layer by one with these settings, which goes by the real time unless another is given. */
  readonly beStrict: (settings: StrictSettings, seed: number, time?: StrictTime) => StrictDynamoDb;
  readonly stop: () => Promise<void>;
};

const consumed = z.object({
  TableName: z.string(),
  Table: z.optional(z.object({ CapacityUnits: z.number() })),
  GlobalSecondaryIndexes: z.optional(z.record(z.string(), z.object({ CapacityUnits: z.number() }))),
});
const answerCapacity = z.object({
  ConsumedCapacity: z.optional(
    z.union([
      z.array(consumed),
      z.pipe(
        consumed,
        z.transform((one) => [one]),
      ),
    ]),
  ),
});

const CAPACITY_OPERATIONS = new Set([
  "GetItem",
  "PutItem",
  "UpdateItem",
  "DeleteItem",
  "Query",
  "BatchGetItem",
  "TransactWriteItems",
]);

export const startDynamoDbProxy = async (emulator: string): Promise<DynamoDbProxy> => {
  const server = createServer((incoming, outgoing) => {
    handle(incoming, outgoing).catch(() => outgoing.destroy());
  });
  const port = await listenOnLoopback(server);

  const tables = forwardTo(emulator);
  const streams = forwardTo(emulator, DYNAMODB_STREAMS);
  const late: (() => Promise<unknown>)[] = [];

  const proxy: DynamoDbProxy = {
    endpoint: `http://127.0.0.1:${port}`,
    calls: [],
    countsTimedReads: false,
    fault: () => undefined,
    landLateWrites: async () => {
      await Promise.all(late.splice(0).map((land) => land()));
    },
    strict: undefined,
    beStrict: (settings, seed, time) => {
      const strict = strictDynamoDb({ settings, seed, forward: tables.forward, time });
      proxy.strict = strict;
      return strict;
    },
    stop: () =>
      new Promise((stopped) => {
        tables.close();
        streams.close();
        server.close(() => stopped());
        server.closeAllConnections();
      }),
  };

  const handle = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const [api = "", operation = ""] = String(incoming.headers["x-amz-target"]).split(".");
    const sent = await readAll(incoming);
    // The platform reads the stream: its reads are no part of a request's cost.
    const isStream = api === DYNAMODB_STREAMS;
    const fault = isStream ? undefined : proxy.fault({ operation, body: sent });
    if (fault === "conflict" || fault === "throttled") return respond(outgoing, refusalOf(fault, operation, sent));
    if (fault === "in_progress") return respond(outgoing, inProgressAnswer);
    if (fault === "never_arrives") return void outgoing.destroy();
    const asked = withCapacity(operation, sent);
    const takeEffect = async (): Promise<StrictAnswer> => {
      const strict = isStream ? undefined : proxy.strict;
      const answer: StrictAnswer = strict
        ? await strict.handle(operation, asked)
        : { ...(await (isStream ? streams : tables).forward(operation, asked)), lost: false, delayMs: 0 };
      if (!isStream && (proxy.countsTimedReads || !isTimedRead(operation, sent)))
        record(proxy.calls, operation, sent, answer.body);
      return answer;
    };
    if (fault === "lands_late") {
      late.push(takeEffect);
      return void outgoing.destroy();
    }
    const answer = await takeEffect();
    if (fault === "answer_lost") return void outgoing.destroy();
    if (answer.lost) return void outgoing.destroy();
    if (answer.delayMs > 0) await new Promise((wake) => setTimeout(wake, answer.delayMs));
    respond(outgoing, answer);
  };

  return proxy;
};

/** An instance reads the order gate every 10 seconds, and the catalog each minute: like the stream's, no part of a request. */
const isTimedRead = (operation: string, body: string): boolean =>
  isGateRead(operation, body) || (operation === "GetItem" && body.includes('{"S":"catalog"}'));

export const isGateRead = (operation: string, body: string): boolean =>
  operation === "BatchGetItem" && body.includes('"purchases"');

const readAll = async (stream: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
};

/** Asks for the capacity figures, which the service itself does not ask for. */
const withCapacity = (operation: string, body: string): string =>
  CAPACITY_OPERATIONS.has(operation)
    ? JSON.stringify({
        ...z.record(z.string(), z.unknown()).parse(JSON.parse(body)),
        ReturnConsumedCapacity: "INDEXES",
      })
    : body;

const record = (calls: SeenCall[], operation: string, sent: string, answer: string): void => {
  const entries = answerCapacity.safeParse(JSON.parse(answer)).data?.ConsumedCapacity ?? [];
  const indexes = entries.flatMap(({ GlobalSecondaryIndexes = {} }) => Object.entries(GlobalSecondaryIndexes));
  const unitsByIndex: Record<string, number> = {};
  for (const [name, { CapacityUnits }] of indexes) unitsByIndex[name] = (unitsByIndex[name] ?? 0) + CapacityUnits;
  calls.push({
    operation,
    tables: [...new Set([...sent.matchAll(/"TableName":"([^"]+)"/g)].map(([, name = ""]) => name))],
    tableUnits: sum(entries.map(({ Table }) => Table?.CapacityUnits ?? 0)),
    indexUnits: sum(Object.values(unitsByIndex)),
    unitsByIndex,
  });
};

const respond = (outgoing: ServerResponse, { status, body }: WireAnswer): void => {
  outgoing.writeHead(status, { "content-type": "application/x-amz-json-1.0" }).end(body);
};
