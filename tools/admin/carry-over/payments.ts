import * as z from "#zod";
import { getItem } from "../../../shared/ledger/get-item.ts";
import type { Ledger } from "../../../shared/ledger/ledger.ts";
import { FLOAT_PK, isFloatPaymentPk } from "../../../shared/ledger/schema.ts";
import { floatPaymentSchema, floatSchema } from "../../../shared/margin/float.ts";
import { unlessRefused } from "../../../shared/platform/aws/errors.ts";
import type { Item } from "../table-scan.ts";

const amountField = z.pick(floatPaymentSchema, { amount_kobo: true });

/**
 * Recomputes the sum of the payments to the upstream: both ledgers may have booked some since the moment. `add` gets each
 * item of the restored ledger, and `write` stores the sum if it is another one.
 */
export const recomputePayments = async ({ db, table }: Pick<Ledger, "db" | "table">) => {
  const read = await getItem({ db, table }, FLOAT_PK, floatSchema);
  let kobo = 0;
  let count = 0;
  return {
    add: (item: Item): void => {
      if (!isFloatPaymentPk(item.pk)) return;
      kobo += amountField.parse(item).amount_kobo;
      count += 1;
    },
    write: async (): Promise<void> => {
      if (count === (read?.payments ?? 0) && kobo === (read?.payments_kobo ?? 0)) return;
      const isWritten = await unlessRefused(
        db.update({
          TableName: table,
          Key: { pk: FLOAT_PK },
          UpdateExpression: "SET payments_kobo = :kobo, payments = :count",
          ConditionExpression: read?.payments === undefined ? "attribute_not_exists(payments)" : "payments = :read",
          ExpressionAttributeValues: {
            ...{ ":kobo": kobo, ":count": count },
            ...(read?.payments !== undefined && { ":read": read.payments }),
          },
        }),
      );
      if (!isWritten) throw new Error("A payment to the upstream was booked during the carry-over: run it again");
    },
  };
};
