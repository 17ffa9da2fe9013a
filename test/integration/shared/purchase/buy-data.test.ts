import { randomUUID } from "node:crypto";
import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { expect, test } from "vitest";
import { catalogMemory } from "../../../../shared/catalog/memory.ts";
import { snapshotOf } from "../../../../shared/catalog/snapshot.ts";
import { emptyWallet } from "../../../../shared/ledger/wallet.ts";
import { deadlineIn } from "../../../../shared/platform/deadline.ts";
import { loadKeyedHashes } from "../../../../shared/platform/keyed-hashes.ts";
import { koboFromNaira } from "../../../../shared/platform/money.ts";
import { systemClock } from "../../../../shared/platform/time.ts";
import { buyData } from "../../../../shared/purchase/buy-data.ts";
import { sandboxUpstream } from "../../../../shared/upstream/sandbox.ts";
import { aCatalog, aPlan } from "../../../builders/catalog.ts";
import { freshTables } from "../../../builders/tables.ts";

/** The description of a bought plan of the network MTN. */
const descriptionOf = async (planName: string, networkName = "MTN"): Promise<string | undefined> => {
  const { db, ledgerTable: table } = await freshTables();
  const accountId = `acc_${randomUUID()}`;
  const wallet = { ...emptyWallet(accountId, systemClock()), balance_kobo: koboFromNaira(1_000) };
  await db.send(new PutCommand({ TableName: table, Item: wallet }));
  const key = "k".repeat(32);
  const networks = [{ id: 1, name: networkName, code: "mtn" }];
  const catalog = snapshotOf(aCatalog(1, { networks, data_plans: [aPlan({ name: planName })] }), systemClock());
  const buy = buyData({
    ledger: { db, table, clock: systemClock },
    keyedHashes: loadKeyedHashes({ value: async () => key, refetch: async () => key }),
    outcomeQueue: { send: () => Promise.reject(new Error("Nothing is left to find out")) },
    purchases: "on",
    catalog: catalogMemory({ read: async () => catalog }, systemClock),
    upstreams: { live: sandboxUpstream, test: sandboxUpstream },
  });
  const { data } = await buy({
    input: { network_id: 1, plan_id: 101, phone_number: "08031234567", reference: "long" },
    caller: { accountId, keyId: "key_1", mode: "test" },
    deadline: deadlineIn(20_000),
  });
  return data?.transaction.description;
};

test("a bundle with a long name is described by the first 90 characters of network and name, so that its item stays below 1 KB", async () => {
  expect(await descriptionOf("G".repeat(120))).toBe(`MTN ${"G".repeat(86)} data for 08031234567`);
});

test.each([
  ["MTN", "MTN 110MB", "MTN 110MB"],
  ["MTN", "mtn 110MB", "mtn 110MB"],
  ["MTN", "MTN-110MB", "MTN-110MB"],
  ["MTN", "MTN", "MTN"],
  ["MTN", "MTNX 110MB", "MTN MTNX 110MB"],
  ["Glo", "Global 1GB", "Glo Global 1GB"],
  ["Glo", "1GB by Glo", "Glo 1GB by Glo"],
  ["9mobile (T2)", "9mobile (T2) 1GB", "9mobile (T2) 1GB"],
])("a plan of %s named %j is described as %j: the network is named once", async (network, plan, bundle) => {
  expect(await descriptionOf(plan, network)).toBe(`${bundle} data for 08031234567`);
});
