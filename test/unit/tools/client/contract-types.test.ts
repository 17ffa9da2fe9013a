import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { contractTypes } from "../../../../tools/client/contract-types.ts";

const read = (path: string): string => readFileSync(new URL(`../../../../${path}`, import.meta.url), "utf8");

test("the client's types of the contract are those that npm run openapi writes", async () => {
  expect(read("client/src/contract-types.ts")).toBe(await contractTypes(read("docs/openapi.json")));
});
