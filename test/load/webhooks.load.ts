import { test } from "vitest";
import { runWebhooks } from "./webhooks.ts";

test("endpoints that are slow, hang, fail or refuse connections do not delay webhooks to healthy ones", async () => {
  await runWebhooks({ seconds: 30, perSecond: 2 });
});
