import { expect, test } from "vitest";
import { entryPreview, koboOf, paymentPreview } from "../../../../../console/components/values/amount.ts";
import { walletActions } from "../../../../../shared/contract/actions/wallet.ts";

test("an amount whose comma could be a decimal point is refused by every action that takes one", () => {
  const amount_kobo = koboOf("500,00");
  for (const name of ["wallet fund", "wallet adjust", "wallet threshold"] as const) {
    const { error } = walletActions[name].input.safeParse({ account: "acc_1", amount_kobo, id: "a", why: "why" });
    expect(error?.issues.map(({ path, message }) => [path[0], message])).toEqual([
      ["amount_kobo", expect.stringContaining("commas only between thousands")],
    ]);
  }
});

test.for([
  ["50,000", 145_100, "NGN 50,000.00 will be credited: from 145,100.00 to 195,100.00", "Credit NGN 50,000.00"],
  ["-500", 145_100.5, "NGN 500.00 will be debited: from 145,100.50 to 144,600.50", "Debit NGN 500.00"],
  ["-0.20", 0.3, "NGN 0.20 will be debited: from 0.30 to 0.10", "Debit NGN 0.20"],
  ["-500", 100, "NGN 500.00 cannot be debited: the balance is NGN 100.00, and never goes below 0.", "Debit NGN 500.00"],
  ["1250.5", undefined, "NGN 1,250.50 will be credited.", "Credit NGN 1,250.50"],
] as const)("typing %s at a balance of %s says what will happen", ([text, balance, sentence, button]) => {
  const preview = entryPreview(text, balance);
  expect(preview?.sentence).toBe(sentence);
  expect(preview?.button).toBe(button);
});

test.for([
  ["50,000", "A payment of NGN 50,000.00 to the upstream will be booked.", "Book NGN 50,000.00"],
  ["-500", "NGN 500.00 will be taken from the booked payments.", "Take NGN 500.00 off"],
] as const)("typing %s as a payment to the upstream says that it is booked", ([text, sentence, button]) => {
  const preview = paymentPreview(text);
  expect(preview?.sentence).toBe(sentence);
  expect(preview?.button).toBe(button);
});

test("nothing is promised while no amount is typed, or one that is refused", () => {
  for (const text of ["", "500,00", "0", "x"]) {
    expect(entryPreview(text, 100)).toBeUndefined();
    expect(paymentPreview(text)).toBeUndefined();
  }
});
