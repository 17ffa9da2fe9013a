import { beforeAll, expect, test } from "vitest";
import {
  firstCheckpoint,
  readCheckpoint,
  readCheckpoints,
  replaceCheckpoint,
  writeCheckpoint,
} from "../../../../shared/ledger/checkpoint.ts";
import type { Ledger } from "../../../../shared/ledger/ledger.ts";
import { checkpointPk } from "../../../../shared/ledger/schema.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { openLedgerAtNoon } from "../../../builders/ledger/ledger-at-noon.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";

let ledger: Ledger;
beforeAll(async () => {
  ledger = await openLedgerAtNoon();
});

const aCheckpoint = (accountId: string, minutes: number) => ({
  ...firstCheckpoint(accountId),
  ...{ balance_kobo: minutes, version: 3, open_keys: ["transaction#1"], difference_kobo: -1 },
  ...{ up_to: isoTime(NOON_MS + minutes), reconciled_at: isoTime(NOON_MS + minutes) },
});

test("a wallet that was never reconciled has nothing behind it", async () => {
  expect(await readCheckpoint(ledger, "acc_new")).toEqual({
    ...{ pk: "checkpoint#acc_new", account_id: "acc_new", balance_kobo: 0, version: 0, open_keys: [] },
    ...{ up_to: "1970-01-01T00:00:00.000Z", reconciled_at: "1970-01-01T00:00:00.000Z", difference_kobo: 0 },
  });
});

test("checkpoints of many accounts are those that are stored, and one that cannot be parsed fails for its account alone", async () => {
  const stored = aCheckpoint("acc_stored", 1);
  await writeCheckpoint(ledger, stored);
  await ledger.db.put({ TableName: ledger.table, Item: { pk: checkpointPk("acc_broken"), version: "none" } });
  const checkpointOf = await readCheckpoints(ledger, ["acc_stored", "acc_broken", "acc_new"]);
  expect(checkpointOf("acc_stored")).toEqual(stored);
  expect(await readCheckpoint(ledger, "acc_stored")).toEqual(stored);
  expect(checkpointOf("acc_new")).toEqual(firstCheckpoint("acc_new"));
  expect(() => checkpointOf("acc_broken")).toThrow();
});

test("a checkpoint replaces the one that was read, and no other; an error that is not about that is thrown", async () => {
  const [first, second, third] = [1, 2, 3].map((minutes) => aCheckpoint("acc_1", minutes));
  if (first === undefined || second === undefined || third === undefined) throw new Error("There are three");
  await replaceCheckpoint(ledger, firstCheckpoint("acc_1"), first);
  await replaceCheckpoint(ledger, firstCheckpoint("acc_1"), third);
  expect(await readCheckpoint(ledger, "acc_1")).toEqual(first);
  await replaceCheckpoint(ledger, first, second);
  for (const other of [
    { ...second, up_to: third.up_to },
    { ...second, reconciled_at: third.reconciled_at },
  ]) {
    await replaceCheckpoint(ledger, other, third);
  }
  expect(await readCheckpoint(ledger, "acc_1")).toEqual(second);
  await expect(replaceCheckpoint({ ...ledger, table: "absent" }, first, second)).rejects.toThrow(
    expect.objectContaining({ name: "ResourceNotFoundException" }),
  );
});
