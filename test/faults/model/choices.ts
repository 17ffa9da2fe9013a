import fc from "fast-check";
import type { Mode } from "../../../shared/contract/transaction.ts";
import { faults } from "../system/effects.ts";
import type { CheckCase, PurchaseCase } from "./expected-account.ts";
import type { Submission } from "./orders.ts";
import type { InjectedFault } from "./session.ts";

const fault: fc.Arbitrary<InjectedFault> = fc.record({
  at: fc.integer({ min: 1, max: 9 }),
  fault: fc.constantFrom(...faults),
});
/** A fault in every second case. */
export const maybeFault = fc.option(fault, { nil: undefined, freq: 2 });

export const mode = fc.constantFrom<Mode>("live", "live", "test");
/** Which of an account's transactions a step is about. */
export const index = fc.nat({ max: 30 });
export const finalStatus = fc.constantFrom<"success" | "failed">("success", "failed");

/** About half of the orders succeed at once. */
export const purchase = fc.oneof(
  { weight: 6, arbitrary: fc.constant<PurchaseCase>("delivered") },
  {
    weight: 7,
    arbitrary: fc.constantFrom<PurchaseCase>(
      "failed",
      "succeedsLater",
      "failsLater",
      "staysOpen",
      "insufficientBalance",
      "unavailable",
      "noAnswer",
    ),
  },
);
export const check = fc.oneof(
  { weight: 5, arbitrary: fc.constant<CheckCase>("found") },
  {
    weight: 5,
    arbitrary: fc.constantFrom<CheckCase>("noRecord", "refused", "unavailable", "insufficientBalance", "noAnswer"),
  },
);

const copies = fc.oneof({ weight: 9, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: fc.constantFrom(2, 3) });
/** Only a single copy has faults, because an error for one of several does not show the outcome of the others. */
const submission: fc.Arbitrary<Submission> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ copies, fault: fc.constant(undefined) }) },
  { weight: 1, arbitrary: fc.record({ copies: fc.constant(1), fault }) },
);

/** What every order has. The references are few, so that replays and conflicts are frequent. */
export const orderChoices = {
  mode,
  reference: fc.integer({ min: 1, max: 40 }).map((number) => `order-${number}`),
  submission,
};
