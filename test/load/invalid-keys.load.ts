import { test } from "vitest";
import { countCallsOfInvalidKeys, runFlood } from "./invalid-keys.ts";

test("a malformed key costs no DynamoDB call, and an unknown or revoked key costs one", async () => {
  await countCallsOfInvalidKeys({ requests: 5_000 });
});

test("a flood of invalid keys does not keep a valid caller from buying", async () => {
  await runFlood({ seconds: 20 });
});
