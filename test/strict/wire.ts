import { Agent, request as httpRequest } from "node:http";
import { text as textOf } from "node:stream/consumers";

/** An answer of DynamoDB's JSON protocol. */
export type WireAnswer = { readonly status: number; readonly body: string };

/** Sends one operation straight to the emulator. */
export type Forward = (operation: string, body: string) => Promise<WireAnswer>;

/** What the emulator asks of every request, and does not check. */
const SIGNATURE =
  "AWS4-HMAC-SHA256 Credential=local/20261121/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=none";

/** Hands operations on to the emulator at this address. */
export const forwardTo = (emulator: string): { readonly forward: Forward; readonly close: () => void } => {
  const agent = new Agent({ keepAlive: true });
  const forward: Forward = (operation, body) =>
    new Promise((resolve, reject) => {
      const headers = {
        "content-type": "application/x-amz-json-1.0",
        "x-amz-target": `DynamoDB_20120810.${operation}`,
        authorization: SIGNATURE,
        "x-amz-date": "20261121T120000Z",
        "content-length": Buffer.byteLength(body),
      };
      const outgoing = httpRequest(emulator, { method: "POST", agent, headers }, (answer) => {
        textOf(answer).then((text) => resolve({ status: answer.statusCode ?? 0, body: text }), reject);
      });
      outgoing.once("error", reject);
      outgoing.end(body);
    });
  return { forward, close: () => agent.destroy() };
};
