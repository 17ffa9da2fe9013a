import { koboFromNaira } from "../../../shared/contract/values/money.ts";
import { readWallet } from "../../../shared/ledger/wallet.ts";
import {
  AIRTIME_NAIRA,
  buyAirtime,
  type Caller,
  DELIVERED_LATER,
  FAILED_LATER,
  finalStatus,
  newCaller,
  storesOf,
} from "../caller.ts";
import type { Stage } from "../context.ts";
import { assertThat, found, type Outcome } from "../outcome.ts";
import type { SetUp } from "./set-up.ts";

/** A purchase that stays open at first, until a signed event of the simulator settles it. */
export const buyLater = async (stage: Stage, { keys: [key = ""] }: Caller, phoneNumber: string): Promise<string> => {
  const ordered = await buyAirtime(stage, key, { reference: `later-${crypto.randomUUID()}`, phoneNumber });
  assertThat(
    "status" in ordered && ordered.status === "processing",
    `an order that is settled later was answered ${JSON.stringify(ordered)}`,
  );
  return finalStatus(stage, key, ordered.reference);
};

/** Two orders are settled by signed events, through the queue: one delivered, one refunded. */
export const settleByEvents = async (stage: Stage, { address }: SetUp): Promise<Outcome> => {
  const caller = await newCaller(stage, { address, naira: 2 * AIRTIME_NAIRA });
  const statuses = await Promise.all(
    [DELIVERED_LATER, FAILED_LATER].map((phoneNumber) => buyLater(stage, caller, phoneNumber)),
  );
  assertThat(statuses.join() === "success,failed", `the events settled the orders as ${statuses.join(" and ")}`);
  const { balance_kobo } = await readWallet(storesOf(stage).ledger, caller.accountId);
  assertThat(
    balance_kobo === koboFromNaira(AIRTIME_NAIRA),
    `the wallet has ${balance_kobo} kobo instead of ${koboFromNaira(AIRTIME_NAIRA)}`,
  );
  return found("a success was kept, and a failure refunded to the kobo");
};
