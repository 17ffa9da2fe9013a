import { createServer, type ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import { expect, test } from "vitest";
import * as z from "#zod";
import { openDynamoDb } from "../../../../../shared/platform/aws/sdk.ts";
import { documentClient } from "../../../../../shared/platform/aws-clients.ts";
import { callAwsAt } from "../../../../builders/aws/aws-server.ts";

/** Goal: the attempts of a call are those of one call of the SDK, also if the first one was made without it. */
let answer: (response: ServerResponse) => unknown;
const tokens: string[] = [];
const tokenOf = z.object({ ClientRequestToken: z._default(z.string(), "") });
const server = createServer(async (request, response) => {
  tokens.push(tokenOf.parse(await json(request)).ClientRequestToken);
  answer(response);
});
callAwsAt(server);

const clients = [
  ["the SDK", () => openDynamoDb()],
  ["the short path", () => documentClient()],
] as const;

test.each(clients)(
  "a transaction whose first answer is lost is sent again with its token by %s",
  async (_name, open) => {
    tokens.length = 0;
    answer = (response) => (tokens.length === 1 ? response.destroy() : response.end("{}"));
    await open().transactWrite({ TransactItems: [{ Put: { TableName: "ledger", Item: { pk: "a" } } }] });
    expect(tokens).toHaveLength(2);
    expect(new Set(tokens).size).toBe(1);
    expect(tokens[0]).not.toBe("");
  },
);

test.each(clients)("an abort while the body arrives is an AbortError of %s", async (_name, open) => {
  answer = (response) => {
    response.writeHead(200, { "content-length": "20" });
    response.write("{");
  };
  const call = open().update({ TableName: "ledger", Key: { pk: "a" } }, { abortSignal: AbortSignal.timeout(100) });
  await expect(call).rejects.toMatchObject({ name: "AbortError" });
});
