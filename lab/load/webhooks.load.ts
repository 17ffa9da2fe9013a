import { test } from "vitest";
import { share } from "./share.ts";
import { runWebhooks } from "./webhooks.ts";

test("endpoints that are slow, hang, fail or refuse connections do not delay webhooks to healthy ones", async () => {
  await runWebhooks({ seconds: share(30), perSecond: 2 });
});
