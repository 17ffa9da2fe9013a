import { expect, test } from "vitest";
import { allEnded } from "../../../../shared/platform/all-ended.ts";

test("the results of all parts are in their order", async () => {
  expect(await allEnded([Promise.resolve("one"), Promise.resolve("other")])).toEqual(["one", "other"]);
});

test("after one part failed, the error comes once the others have ended", async () => {
  const events: string[] = [];
  const slow = Promise.withResolvers<void>();
  const failed = Promise.reject(new Error("No answer"));
  const all = allEnded([failed, slow.promise.then(() => events.push("ended"))]).catch((error: Error) =>
    events.push(error.message),
  );
  await failed.catch(() => events.push("failed"));
  // All reactions to the failure have run.
  await new Promise((turn) => setImmediate(turn));
  slow.resolve();
  await all;
  expect(events).toEqual(["failed", "ended", "No answer"]);
});
