import { test } from "vitest";
import { countCallsOfInvalidKeys, runFlood } from "./invalid-keys.ts";
import { share } from "./share.ts";

test("a malformed key costs no DynamoDB call, and an unknown or revoked key costs one", async () => {
  await countCallsOfInvalidKeys({ requests: share(5_000) });
});

test("a flood of invalid keys does not keep a valid caller from buying", async () => {
  await runFlood({ seconds: share(20) });
});
