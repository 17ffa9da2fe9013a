import { randomUUID } from "node:crypto";
import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { expect, test } from "vitest";
import { catalogMemory } from "../../shared/catalog/memory.ts";
import { snapshotOf } from "../../shared/catalog/snapshot.ts";
import { deadlineIn } from "../../shared/platform/deadline.ts";
import { koboFromNaira } from "../../shared/platform/money.ts";
import { systemClock } from "../../shared/platform/time.ts";
import { buyData } from "../../shared/purchase/buy-data.ts";
import { sandboxProvider } from "../../shared/upstream/sandbox.ts";
import { namingFrom } from "../../shared/wallet/naming.ts";
import { emptyWallet } from "../../shared/wallet/wallet.ts";
import { aCatalog, aPlan } from "../builders/catalog.ts";
import { freshTables } from "../builders/tables.ts";

test("a bundle with a long name is described by the first 90 characters of network and name, so that its item stays below 1 KB", async () => {
  const { db, ledgerTable: table } = await freshTables();
  const accountId = `acc_${randomUUID()}`;
  const wallet = { ...emptyWallet(accountId, systemClock()), balance_kobo: koboFromNaira(1_000) };
  await db.send(new PutCommand({ TableName: table, Item: wallet }));
  const key = "k".repeat(32);
  const catalog = snapshotOf(aCatalog(1, { data_plans: [aPlan({ name: "G".repeat(120) })] }), systemClock());
  const buy = buyData({
    ledger: { db, table, clock: systemClock },
    naming: namingFrom({ value: async () => key, refetch: async () => key }),
    statusQueue: { send: () => Promise.reject(new Error("Nothing is left to find out")) },
    purchases: "on",
    catalog: catalogMemory({ read: async () => catalog }, systemClock),
    providers: { live: sandboxProvider, test: sandboxProvider },
  });
  const { data } = await buy({
    input: { network_id: 1, plan_id: 101, phone_number: "08031234567", reference: "long" },
    caller: { accountId, keyId: "key_1", mode: "test" },
    deadline: deadlineIn(20_000),
  });
  expect(data?.transaction.description).toBe(`MTN ${"G".repeat(86)} data for 08031234567`);
});
