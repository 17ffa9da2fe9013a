import { test } from "vitest";
import { runStatusQueue } from "./status-queue.ts";

test("of 5,000 messages in the status queue, all good ones are applied exactly once, and the unreadable 1 % become dead letters", async () => {
  await runStatusQueue({ messages: 5_000, visibilityS: 5, receives: 8 });
});
