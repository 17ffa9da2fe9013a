import { readFileSync } from "node:fs";
import { join } from "node:path";

/** A defect to seed into a copy of the product's code, which the fault tests must find. */
export type Mutant = {
  readonly name: string;
  readonly edits: readonly { readonly file: string; readonly find: string; readonly replace: string }[];
};

export const mutants: readonly Mutant[] = [
  {
    name: "the debit does not check the balance",
    edits: [
      {
        file: "shared/ledger/wallet.ts",
        find: 'IS_SUFFICIENT = "balance_kobo >= :amount',
        replace: 'IS_SUFFICIENT = "attribute_exists(pk)',
      },
    ],
  },
  {
    name: "the refund does not check the status",
    edits: [
      {
        file: "shared/ledger/transaction-state.ts",
        find: '"#status = :processing AND #mode = :mode',
        replace: '"(#status = :processing OR #status <> :processing) AND #mode = :mode',
      },
    ],
  },
  {
    name: "a line is booked in a time that is sealed",
    edits: [
      {
        file: "shared/ledger/wallet.ts",
        find: "(attribute_not_exists(sealed_to) OR sealed_to < :booked_at)",
        replace: "(attribute_not_exists(sealed_to) OR sealed_to <> :booked_at)",
      },
    ],
  },
  {
    name: "a refund that the seal refused keeps its date",
    edits: [
      {
        file: "shared/ledger/settle-transaction.ts",
        find: "refundPut(ledger, target, bookedAt)",
        replace: "refundPut(ledger, target, bookingTime(ledger))",
      },
    ],
  },
  {
    name: "a statement dates a refund by its order",
    edits: [
      {
        file: "shared/ledger/statement.ts",
        find: "refundLine(listed.key.created_at, order)",
        replace: "refundLine(order.created_at, order)",
      },
    ],
  },
  {
    name: "a statement leaves out the lines of its last millisecond",
    edits: [
      {
        file: "shared/ledger/statement.ts",
        find: "return { taken, isComplete: true }",
        replace:
          "return { taken: taken.filter((each) => timeOf(each) < timeOf(taken.at(-1) ?? each)), isComplete: true }",
      },
    ],
  },
  {
    name: "a refund gives back to a day that is over",
    edits: [
      {
        file: "shared/ledger/usage.ts",
        find: "filter(({ name }) => continues(name, day, readDay))",
        replace: "filter(({ name }) => continues(name, readDay, readDay))",
      },
    ],
  },
  {
    name: "a debit may pass a limit",
    edits: [
      {
        file: "shared/ledger/usage.ts",
        find: "_room`]: max - adds,",
        replace: "_room`]: max,",
      },
    ],
  },
  {
    name: "a lookup's answer about another order settles this one",
    edits: [
      {
        file: "shared/upstream-lookup/ask-upstream.ts",
        find: "const different = fieldsThat(false);",
        replace: 'const different = "";',
      },
    ],
  },
  {
    name: "the webhook is enqueued before the transaction is settled",
    edits: [
      {
        file: "shared/orders/place-order.ts",
        find: "  const result = await settleTransaction(ledger, transaction, settlement, deadline);",
        replace: `  if (settlement.status !== "processing") {
    const { openSqs } = await import("../platform/aws-clients.ts");
    const { deliveryQueue } = await import("../webhooks/delivery-queue.ts");
    const queue = deliveryQueue(openSqs(), process.env.DELIVERY_QUEUE_URL ?? "");
    await queue.send({ event: "transaction.updated", transaction_pk: transaction.pk, status: settlement.status }, transaction.account_id);
  }
  const result = await settleTransaction(ledger, transaction, settlement, deadline);`,
      },
      {
        file: "shared/webhooks/deliver-webhook.ts",
        find: "transaction === undefined || transaction.status !== message.status",
        replace: "transaction === undefined",
      },
    ],
  },
];

/** The mutated texts by file. Throws where the code to change is not in the tree, or there more than once. */
export const mutatedFiles = ({ name, edits }: Mutant, root: string): ReadonlyMap<string, string> => {
  const texts = new Map<string, string>();
  for (const { file, find, replace } of edits) {
    const parts = (texts.get(file) ?? readFileSync(join(root, file), "utf8")).split(find);
    if (parts.length !== 2) throw new Error(`"${name}": ${file} has this code ${parts.length - 1} times: ${find}`);
    texts.set(file, parts.join(replace));
  }
  return texts;
};
