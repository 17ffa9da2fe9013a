import { test } from "vitest";
import { runWebhooks } from "./webhooks.ts";

test("endpoints that are slow, hang, fail or are not there do not hold up the healthy ones", async () => {
  await runWebhooks({ seconds: 30, aSecond: 2 });
});
