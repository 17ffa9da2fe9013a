import { test } from "vitest";
import { runOutcomeQueue } from "./outcome-queue.ts";

test("of 5,000 messages in the outcomes queue, valid ones are applied exactly once and invalid ones become dead letters", async () => {
  await runOutcomeQueue({ messages: 5_000, visibilityS: 5, receives: 8 });
});
