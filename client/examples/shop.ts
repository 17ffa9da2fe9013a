import { randomUUID } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import {
  AirtimeClient,
  InsufficientBalanceError,
  InvalidRequestError,
  OutcomeUnknownError,
  PlanUnavailableError,
  ReferenceReusedError,
  ServiceError,
  WaitEndedError,
} from "@airtime-service/client";

/*
 * An app that sells data bundles and survives a kill -9 between any two lines: each of its orders is delivered and paid
 * once. It needs Node 22 or newer, for node:sqlite; any database does.
 *
 *   node shop.ts 08031234567    sells a bundle to this number
 *   node shop.ts                finishes what an earlier run left open
 *
 * Only one run at a time: a late answer of one must not replace what another has saved.
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
  state        TEXT NOT NULL CHECK (state IN ('new', 'sent', 'delivered', 'failed'))
)`);

type Row = {
  readonly reference: string;
  readonly phoneNumber: string;
  readonly networkId: number;
  readonly planId: number;
  readonly state: string;
};

/** Saves the order with its reference, before anything is sent. Your own tables belong into the same transaction. */
const addOrder = (phoneNumber: string): void => {
  const insert = db.prepare("INSERT INTO orders VALUES (?, ?, 1, 101, 'new')");
  insert.run(randomUUID(), phoneNumber);
};

const openOrders = (): Row[] => {
  const select = db.prepare("SELECT * FROM orders WHERE state IN ('new', 'sent')");
  return select.all().map((row) => ({
    reference: String(row.reference),
    phoneNumber: String(row.phone_number),
    networkId: Number(row.network_id),
    planId: Number(row.plan_id),
    state: String(row.state),
  }));
};

const setState = (reference: string, state: "new" | "sent" | "delivered" | "failed"): void => {
  db.prepare("UPDATE orders SET state = ? WHERE reference = ?").run(state, reference);
};

/** Refusals that the same order meets again. Others, such as a rate limit, pass: a later run sends the order again. */
const isLasting = (error: ServiceError): boolean =>
  error instanceof InvalidRequestError ||
  error instanceof InsufficientBalanceError ||
  error instanceof PlanUnavailableError ||
  error instanceof ReferenceReusedError;

const settleOrder = async ({ reference, phoneNumber, networkId, planId, state }: Row): Promise<void> => {
  // From here on this order may have been sent, and a later run says so.
  setState(reference, "sent");
  const repeated = state === "sent";
  try {
    let { status } = await client.data.purchase({ networkId, planId, phoneNumber }, { reference, repeated });
    if (status === "processing") ({ status } = await client.transactions.wait(reference));
    setState(reference, status === "success" ? "delivered" : "failed");
  } catch (error) {
    // Not known, or not known yet: the order stays `sent`, and the next run asks again.
    if (error instanceof OutcomeUnknownError || error instanceof WaitEndedError) return;
    if (!(error instanceof ServiceError)) throw error;
    const isOver = error.transactionReference !== undefined || isLasting(error);
    setState(reference, isOver ? "failed" : "new");
  }
};

const [phoneNumber] = process.argv.slice(2);
if (phoneNumber !== undefined) addOrder(phoneNumber);
for (const order of openOrders()) await settleOrder(order);
for (const { reference, state } of db.prepare("SELECT reference, state FROM orders").all()) {
  console.log(reference, state);
}
