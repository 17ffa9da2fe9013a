import { test } from "vitest";
import { runOutcomeQueue } from "./outcome-queue.ts";

test("of 5,000 messages in the outcomes queue, all good ones are applied exactly once, and the unreadable 1 % become dead letters", async () => {
  await runOutcomeQueue({ messages: 5_000, visibilityS: 5, receives: 8 });
});
