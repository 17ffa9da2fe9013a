import { expect, test } from "vitest";
import { replayStore } from "../../../../shared/identity/replay.ts";
import { emulatorClient } from "../../../builders/tables.ts";
import { aTransaction } from "../../../builders/transaction.ts";

/** Goal: keeping a result for replays takes no time from settling. */
test("a result whose sealing key does not come is not kept, and gives up when its time is over", async () => {
  const never = () => new Promise<never>(() => undefined);
  const kept = replayStore(emulatorClient(), "no-table", { value: never, refetch: never }, Date.now);
  const begunMs = performance.now();
  await expect(kept.store(aTransaction(), { first_name: "Ngozi" }, 200)).rejects.toThrow();
  expect(performance.now() - begunMs).toBeLessThan(1_000);
});
