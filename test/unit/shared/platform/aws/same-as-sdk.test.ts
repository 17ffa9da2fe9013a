import assert from "node:assert";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { text } from "node:stream/consumers";
import { Hash } from "@smithy/core/serde";
import { SignatureV4 } from "@smithy/signature-v4";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { openDynamoDb } from "../../../../../shared/platform/aws/sdk.ts";
import { type DocumentClient, documentClient } from "../../../../../shared/platform/aws-clients.ts";
import { credentials, REGION } from "../../../../../tools/local/local-aws.ts";
import { callAwsAt } from "../../../../builders/aws/aws-server.ts";
import { type AttemptEnd, attemptEnds, inputs, type Operation } from "./arbitrary-calls.ts";

/** Calls of each operation, with a fixed seed and with a new one. `CALLS_SEED` repeats a run. */
const RUNS = Number(process.env.CALLS ?? 40);
const SEEDS = process.env.CALLS_SEED ? [Number(process.env.CALLS_SEED)] : [20_261_122, Date.now() % 1_000_000_000];

type Seen = { readonly headers: IncomingHttpHeaders; readonly body: string };
const seen: Seen[] = [];
/** How the next attempts end; the last one repeats. */
let script: readonly AttemptEnd[] = [];

const server = createServer(async (request, response) => {
  const end = script[Math.min(seen.length, script.length - 1)];
  seen.push({ headers: request.headers, body: await text(request) });
  if (end?.kind !== "answer") {
    if (end?.at === "body") response.writeHead(200, { "content-length": "9" }).write("{");
    // What was written arrives first.
    setImmediate(() => response.destroy());
    return;
  }
  const date = new Date(Date.now() + end.clockOffsetS * 1_000).toUTCString();
  response.writeHead(end.status, { date, "x-amzn-requestid": "R1" }).end(end.body);
});

callAwsAt(server, {
  AWS_SESSION_TOKEN: "token",
  AWS_LAMBDA_FUNCTION_NAME: "purchase",
  _X_AMZN_TRACE_ID: "Root=1",
});
// The delay before a retry is 0.
beforeEach(() => void vi.spyOn(Math, "random").mockReturnValue(0));
afterEach(() => void vi.restoreAllMocks());

/** What only says who calls: the short path is not the SDK, and does not count its attempts. */
const ABOUT_SDK = ["user-agent", "x-amz-user-agent", "amz-sdk-invocation-id", "amz-sdk-request"];
/** They depend on the others, on the time and on the order of the body's members. */
const SIGNATURE = ["x-amz-date", "x-amz-content-sha256", "authorization"];

const requestOf = ({ headers, body }: Seen) => {
  const compared = Object.entries(headers).filter(([name]) => ![...ABOUT_SDK, ...SIGNATURE].includes(name));
  return { headers: Object.fromEntries(compared), body: JSON.parse(body) };
};

/** The minutes by which the time of a request's signature differs from now. */
const offsetMinutes = ({ headers }: Seen): number => Math.round((signedAt(headers).getTime() - Date.now()) / 60_000);
const signedAt = (headers: IncomingHttpHeaders): Date =>
  new Date(String(headers["x-amz-date"]).replace(/^(\d{4})(\d\d)(\d\dT\d\d)(\d\d)(\d\dZ)$/, "$1-$2-$3:$4:$5"));

/** The authorization that the SDK's own signer gives the request. */
const authorizationOf = async ({ headers, body }: Seen): Promise<unknown> => {
  const signer = new SignatureV4({
    ...{ service: "dynamodb", region: REGION, credentials: { ...credentials, sessionToken: "token" } },
    sha256: Hash.bind(null, "sha256"),
  });
  const { authorization: _own, connection: _connection, ...others } = headers;
  const sent = Object.fromEntries(Object.entries(others).map(([name, value]) => [name, String(value)]));
  const request = { method: "POST", protocol: "http:", hostname: "", path: "/", headers: sent, body };
  return (await signer.sign(request, { signingDate: signedAt(headers) })).headers.authorization;
};

/** The output of a call, or what the service may read of its error. */
const outcomeOf = async (call: Promise<object>): Promise<unknown> => {
  try {
    const { $metadata: _metadata, ...output }: { $metadata?: unknown } = await call;
    return { output };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const { name } = error;
    // The SDK adds a hint to a body that it cannot read.
    const [message] = error.message.split("\n");
    const { Item, CancellationReasons, $metadata }: Record<string, unknown> = { ...error };
    return { name, message, Item, CancellationReasons, attempts: Object($metadata).attempts };
  }
};

const isOperation = (name: string): name is Operation => name in inputs;

test.each(Object.keys(inputs).filter(isOperation))(
  "random calls of %s by the short path have the SDK's requests, attempts, clock, outputs and errors",
  { timeout: 120_000 + RUNS * 200 },
  async (operation) => {
    const compare = async (input: object, ends: readonly AttemptEnd[]): Promise<void> => {
      script = ends;
      const callBy = async (client: DocumentClient) => {
        seen.length = 0;
        const outcome = await outcomeOf(Reflect.apply(client[operation], client, [input]));
        return { outcome, requests: seen.map(requestOf), offsets: seen.slice(1).map(offsetMinutes) };
      };
      const bySdk = await callBy(openDynamoDb());
      const byShortPath = await callBy(documentClient());
      for (const request of seen) expect(request.headers.authorization).toBe(await authorizationOf(request));
      server.closeAllConnections();
      // Vitest's own comparison mistakes a member `constructor` for the class.
      assert.deepStrictEqual(byShortPath, bySdk);
    };
    for (const seed of SEEDS) {
      console.log(`${RUNS} calls; CALLS_SEED=${seed} repeats them`);
      await fc.assert(
        fc.asyncProperty<[object, readonly AttemptEnd[]]>(inputs[operation], attemptEnds(operation), compare),
        {
          numRuns: RUNS,
          seed,
        },
      );
    }
  },
);
