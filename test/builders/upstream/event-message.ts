import { randomInt, randomUUID } from "node:crypto";
import { expect } from "vitest";
import { koboFromNaira } from "../../../shared/contract/values/money.ts";
import { readTransaction } from "../../../shared/ledger/find-transactions.ts";
import type { Ledger } from "../../../shared/ledger/ledger.ts";
import { openTransaction } from "../../../shared/ledger/open-transaction.ts";
import { transactionPk } from "../../../shared/ledger/schema.ts";
import type { Transaction } from "../../../shared/ledger/transaction.ts";
import type { EventMessage } from "../../../shared/orders/outcome-message.ts";
import { deadlineIn } from "../../../shared/platform/deadline.ts";
import { isoTime } from "../../../shared/platform/time.ts";
import { eventMac, type UnsignedEvent } from "../../../shared/upstream-events/event-mac.ts";
import { listEvents, type StoredEvent } from "../../../shared/upstream-events/stored-event.ts";
import type { FaultyLedger } from "../ledger/faulty-ledger.ts";
import { keyedHashes } from "../ledger/secrets.ts";
import { newTransaction } from "../ledger/transaction.ts";
import { NOON_MS } from "../run/noon.ts";

type EventChanges = Partial<UnsignedEvent> & { readonly phoneNumber?: string };

/** A success of a data purchase for 500 NGN, received at noon, which only the path token authenticates. */
export const anUnauthenticatedEvent = async ({
  phoneNumber = aPhoneNumber(),
  ...changes
}: EventChanges = {}): Promise<UnsignedEvent> => {
  const { phoneKey } = await keyedHashes();
  return {
    kind: "event",
    mode: "live",
    received_at: isoTime(NOON_MS),
    reference: `U-${randomUUID()}`,
    status: "success",
    amount_kobo: koboFromNaira(500),
    type: "data",
    phone: { key: phoneKey(phoneNumber), masked: "0803****567" },
    ...changes,
  };
};

export const authenticated = async (event: UnsignedEvent): Promise<EventMessage> => ({
  ...event,
  mac: eventMac(await keyedHashes(), event),
});

export const anEvent = async (changes: EventChanges = {}): Promise<EventMessage> =>
  authenticated(await anUnauthenticatedEvent(changes));

/** The events that are stored under a reference, oldest first. */
export const storedUnder = async (ledger: Ledger, reference: string): Promise<readonly StoredEvent[]> =>
  (await listEvents(ledger, "0000")).filter((event) => event.reference === reference);

/** The oldest of them. */
export const storedEventUnder = async (ledger: Ledger, reference: string): Promise<StoredEvent> => {
  const [event] = await storedUnder(ledger, reference);
  if (event === undefined) throw new Error("The event was not stored");
  return event;
};

/** A number that, almost certainly, no other order or event of the test file has. */
export const aPhoneNumber = (): string => `0803${String(randomInt(10_000_000)).padStart(7, "0")}`;

/** A key as the service makes it, so that it is part of a valid reference. */
export const aTransactionPk = async (mode: "live" | "test" = "live"): Promise<string> =>
  transactionPk((await keyedHashes()).transactionId({ accountId: "any", mode }));

/** An open order for 500 NGN, made 30 s before noon, of an account that had 2,000 NGN. */
export const anOpenOrder = async (ledger: FaultyLedger, changes: Partial<Transaction> = {}) => {
  const accountId = await ledger.aWallet(2_000);
  const order = newTransaction(accountId, { created_at: isoTime(NOON_MS - 30_000), ...changes });
  const { phoneKey } = await keyedHashes();
  const transaction = order.phone_number === undefined ? order : { ...order, phone_key: phoneKey(order.phone_number) };
  expect(await openTransaction(ledger, transaction, [], deadlineIn(29_000))).toEqual({ kind: "opened" });
  return {
    transaction,
    balance: () => ledger.balanceOf(accountId),
    stored: () => readTransaction(ledger, transaction.pk),
  };
};
