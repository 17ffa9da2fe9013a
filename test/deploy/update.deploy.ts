import { afterAll, expect, test } from "vitest";
import { previousRelease } from "./previous-release.ts";
import { ownNetwork, rehearse } from "./rehearsal.ts";

const rehearsal = await rehearse({
  from: process.env.FROM ?? previousRelease.commit,
  settings: ownNetwork,
  update: async (_previous, tree) => {
    await tree.deploy(ownNetwork);
  },
});
afterAll(rehearsal.close);

test("x", async () => {
  const counts = new Map<string, number>();
  for (const { operation, received } of rehearsal.traffic.exchanges) {
    const w = `${operation} ${received.status} ${received.headers.get("x-error-code")} ${received.status > 499 ? received.text : ""}`;
    counts.set(w, (counts.get(w) ?? 0) + 1);
  }
  console.log(counts, rehearsal.statuses, rehearsal.diff);
  console.log(rehearsal.replays.map(({ before, after }) => [before.text, after.text]));
  console.log(rehearsal.receiver.received.length, rehearsal.upstream.state.deliveries);
  console.log([...rehearsal.physicalIds.before].filter(([k, v]) => rehearsal.physicalIds.after.get(k) !== v));
  console.log(
    await rehearsal.tree.operate("transactions", "list", "--open"),
    await rehearsal.tree.operate("wallet", "verify", "--all"),
  );
});
