import { afterAll, expect, test } from "vitest";
import type { AccountStore } from "../../shared/access/account-store.ts";
import { createAccount, createKey } from "../../shared/access/accounts.ts";
import { permissionSchema } from "../../shared/contract/routes.ts";
import { documentClient } from "../../shared/platform/aws.ts";
import { systemClock } from "../../shared/platform/time.ts";
import { pkOfReference } from "../../shared/wallet/transaction.ts";
import { deliveryPk, readDelivery } from "../../shared/webhook/delivery.ts";
import { contractSuite } from "../contract/suite.ts";
import { deploySandbox } from "./emulator.ts";

const stage = await deploySandbox();
afterAll(() => stage.stop());

Object.assign(process.env, stage.environment);
const { AccessTable: accessTable = "", LedgerTable: ledgerTable = "" } = stage.outputs;
const store: AccountStore = { db: documentClient(), accessTable, ledgerTable };

const newCaller = async () => {
  const { account_id } = await createAccount(store, { name: "deployed", whitelist: ["127.0.0.1"] });
  const { key } = await createKey(store, account_id, { mode: "test", permissions: permissionSchema.options });
  return key;
};

contractSuite({
  name: "the deployed sandbox",
  promises: "service",
  modes: ["test"],
  arranges: [],
  open: async () => ({ baseUrl: stage.baseUrl, key: newCaller, close: async () => {} }),
});

/** Ends by an event 5 seconds later. Source: README, "Magic values". */
const LATER_PHONE_NUMBER = "08000000002";

test("a purchase ends by an event, and the end goes through the stream to the delivery", async () => {
  const key = await newCaller();
  const response = await fetch(`${stage.baseUrl}/vtu/airtime/purchase`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ network: "mtn", phone_number: LATER_PHONE_NUMBER, amount: 100 }),
  });
  expect(await response.json()).toMatchObject({ data: { transaction: { status: "processing" } } });
  const reference = response.headers.get("x-transaction-reference") ?? "";

  const transaction = pkOfReference(reference) ?? "";
  const ledger = { db: store.db, table: ledgerTable, clock: systemClock };
  // The account has no endpoint: that is what the delivery comes to.
  await expect
    .poll(async () => (await readDelivery(ledger, deliveryPk({ transaction, status: "success" })))?.state, {
      timeout: 40_000,
      interval: 500,
    })
    .toBe("no_endpoint");
  const looked = await fetch(`${stage.baseUrl}/transactions/${reference}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  expect(await looked.json()).toMatchObject({ data: { transaction: { reference, status: "success" } } });
});
