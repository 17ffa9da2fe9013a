import { test } from "vitest";
import { countCallsOfInvalidKeys, runFlood } from "./invalid-keys.ts";

test("a key that cannot be one costs no DynamoDB call, and an unknown or revoked one costs one", async () => {
  await countCallsOfInvalidKeys({ requests: 5_000 });
});

test("a flood of invalid keys does not keep a healthy caller from buying", async () => {
  await runFlood({ seconds: 20 });
});
