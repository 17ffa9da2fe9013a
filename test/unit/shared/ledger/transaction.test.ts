import { describe, expect, test } from "vitest";
import { referenceField } from "../../../../shared/contract/fields.ts";
import {
  modeSchema,
  transactionStatus,
  transactionType,
  transactionView,
} from "../../../../shared/contract/transaction.ts";
import { koboSchema } from "../../../../shared/contract/values/money.ts";
import { transactionPk } from "../../../../shared/ledger/schema.ts";
import {
  isFinalStatus,
  pkOfReference,
  referenceOf,
  type Transaction,
  transactionSchema,
  transactionToView,
} from "../../../../shared/ledger/transaction.ts";
import { aTransaction } from "../../../builders/ledger/transaction.ts";

const ID = "0123456789ABCDEFGHJKMNPQRS";

describe("our reference", () => {
  test.for([
    ["data", "DATA_"],
    ["airtime", "AIRTIME_"],
    ["nin_verification", "VERIFY_"],
    ["bvn_verification", "VERIFY_"],
    ["nin_retrieval", "RETRIEVE_"],
    ["bvn_retrieval", "RETRIEVE_"],
  ] as const)("our reference of %s begins with %s, and in test mode with TEST_", ([type, prefix]) => {
    expect(referenceOf(aTransaction({ type }))).toBe(`${prefix}${ID}`);
    expect(referenceOf(aTransaction({ type, mode: "test" }))).toBe(`TEST_${ID}`);
  });

  test("our reference contains the item's key, for all 6 types in both modes", () => {
    const transactions = transactionType.options.flatMap((type) =>
      modeSchema.options.map((mode) => aTransaction({ type, mode, pk: transactionPk(ID) })),
    );
    expect(transactions).toHaveLength(12);
    for (const transaction of transactions)
      expect(pkOfReference(referenceOf(transaction)), referenceOf(transaction)).toBe(`transaction#${ID}`);
  });

  test("our reference is accepted in the lookup's path", () => {
    expect(referenceField.safeParse(referenceOf(aTransaction())).success).toBe(true);
  });

  test.for([
    "order-1",
    ID,
    `_${ID}`,
    `data_${ID}`,
    `DATA_${ID.toLowerCase()}`,
    `DATA_${ID.slice(1)}`,
    `DATA_${ID}0`,
    `DATA_${ID}\n`,
    ` DATA_${ID}`,
    `DATA-${ID}`,
    `DATA_X_${ID}`,
    "",
  ])("%j does not have the form of our reference", (text) => {
    expect(pkOfReference(text)).toBeUndefined();
  });
});

test("`success` and `failed` are final statuses, and `processing` is the only other one", () => {
  expect(transactionStatus.options.filter((status) => !isFinalStatus(status))).toEqual(["processing"]);
  expect(transactionStatus.options.filter(isFinalStatus)).toEqual(["success", "failed"]);
});

describe("transactionToView", () => {
  test("a transaction's view has 11 fields, in NGN, and none of the internal ones", () => {
    const transaction = aTransaction({
      upstream_reference: "DATA_UPSTREAM",
      upstream_amount_kobo: koboSchema.parse(480_00),
      amount_kobo: koboSchema.parse(485_50),
    });
    expect(transactionToView(transaction)).toEqual({
      reference: `DATA_${ID}`,
      status: "processing",
      amount: 485.5,
      description: "MTN 1GB data for 08031234567",
      type: "data",
      caller_reference: "order-1",
      network: "MTN",
      phone_number: "08031234567",
      error_code: null,
      created_at: "2026-11-21T09:30:00.000Z",
      updated_at: "2026-11-21T09:30:00.000Z",
    });
  });

  test("a transaction's view has null for absent fields, and the code of its failure", () => {
    const {
      caller_reference: _own,
      network: _network,
      phone_number: _phone,
      open: _open,
      ...transaction
    } = aTransaction({
      status: "failed",
      failure: { code: "delivery_failed" },
    });
    const view = transactionToView(transaction);
    expect(view).toMatchObject({ caller_reference: null, network: null, phone_number: null });
    expect(view.error_code).toBe("delivery_failed");
    expect(transactionView.safeParse(view).success).toBe(true);
  });
});

test.each<Partial<Transaction>>([
  {
    debit: "void",
    resolved_by: "operator",
    reported_by: "event",
    taken_by: "ada",
    taken_at: "2026-11-21T09:30:00.000Z",
  },
  { debit: "cancelled", reported_by: "lookup", failure: { code: "validation_failed", fields: ["phone_number"] } },
  { queued: { order: { kind: "airtime", network: "mtn" }, table: "ledger", number: 2 }, claim: "a" },
  { queued: { order: { kind: "data", network_id: 1, plan_id: 101 }, table: "ledger", refusals: 2 } },
  { counted: { day: "2026-11-21", account: true, key_id: "key_1" } },
])("an item is read as it is stored: %j", (changes) => {
  expect(transactionSchema.parse(aTransaction(changes))).toEqual(aTransaction(changes));
});

test.for([
  ["half a kobo", { amount_kobo: 0.5 }],
  ["less than nothing", { amount_kobo: -1 }],
  ["an unknown status", { status: "reversed" }],
  ["an unknown mode", { mode: "sandbox" }],
  ["no write token", { write_token: undefined }],
] as const)("an item with %s is not read as a transaction", ([, spoilt]) => {
  expect(transactionSchema.safeParse({ ...aTransaction(), ...spoilt }).success).toBe(false);
  expect(transactionSchema.safeParse(aTransaction()).success).toBe(true);
});
