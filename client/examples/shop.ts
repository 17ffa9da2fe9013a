import { randomUUID } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import { AirtimeClient, OutcomeUnknownError, ServiceError, WaitEndedError } from "@airtime-service/client";

/*
 * An app that sells data bundles and survives a kill -9 between any two lines: each of its orders is delivered and paid
 * once. It needs Node 22.18 or newer, which runs TypeScript and has node:sqlite; any database does.
 *
 *   node shop.ts 08031234567    sells a bundle to this number
 *   node shop.ts                finishes what an earlier run left open
 *   node shop.ts cancel         gives up what is open: it is delivered, or never will be
 */

const client = new AirtimeClient({
  baseUrl: process.env.AIRTIME_BASE_URL ?? "",
  apiKey: process.env.AIRTIME_API_KEY ?? "",
});
const db = new DatabaseSync(process.env.DATABASE ?? "shop.db");
db.exec(`CREATE TABLE IF NOT EXISTS orders (
  reference    TEXT PRIMARY KEY,
  phone_number TEXT NOT NULL,
  network_id   INTEGER NOT NULL,
  plan_id      INTEGER NOT NULL,
  state        TEXT NOT NULL CHECK (state IN ('open', 'delivered', 'failed'))
)`);

type Row = {
  readonly reference: string;
  readonly phoneNumber: string;
  readonly networkId: number;
  readonly planId: number;
};

/** Saves the order with its reference, before anything is sent. Your own tables belong into the same transaction. */
const addOrder = (phoneNumber: string): void => {
  const insert = db.prepare("INSERT INTO orders VALUES (?, ?, 1, 101, 'open')");
  insert.run(randomUUID(), phoneNumber);
};

const openOrders = (): Row[] => {
  const select = db.prepare("SELECT * FROM orders WHERE state = 'open'");
  return select.all().map((row) => ({
    reference: String(row.reference),
    phoneNumber: String(row.phone_number),
    networkId: Number(row.network_id),
    planId: Number(row.plan_id),
  }));
};

const setState = (reference: string, state: "delivered" | "failed"): void => {
  db.prepare("UPDATE orders SET state = ? WHERE reference = ?").run(state, reference);
};

/** Sends the order, again if an earlier run did. It stays open until its end is certain. */
const settleOrder = async ({ reference, phoneNumber, networkId, planId }: Row): Promise<void> => {
  try {
    let { status } = await client.data.purchase({ networkId, planId, phoneNumber }, { reference });
    if (status === "processing") ({ status } = await client.transactions.wait(reference));
    setState(reference, status === "success" ? "delivered" : "failed");
  } catch (error) {
    if (error instanceof OutcomeUnknownError || error instanceof WaitEndedError) console.error(error.message);
    else if (error instanceof ServiceError) setState(reference, "failed");
    else throw error;
  }
};

/** For a customer who does not wait any longer. What was placed before is not stopped. */
const giveUp = async ({ reference }: Row): Promise<void> => {
  try {
    let { status } = await client.transactions.cancel({ reference, type: "data" });
    if (status === "processing") ({ status } = await client.transactions.wait(reference));
    setState(reference, status === "success" ? "delivered" : "failed");
  } catch (error) {
    console.error(error);
  }
};

const [argument] = process.argv.slice(2);
const isGivingUp = argument === "cancel";
if (argument !== undefined && !isGivingUp) addOrder(argument);
for (const order of openOrders()) await (isGivingUp ? giveUp(order) : settleOrder(order));
for (const { reference, state } of db.prepare("SELECT reference, state FROM orders").all()) {
  console.log(reference, state);
}
