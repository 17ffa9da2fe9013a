import * as z from "#zod";
import { readWallet } from "../../../shared/ledger/wallet.ts";
import { AIRTIME_NAIRA, buyAirtime, DELIVERED, finalStatus, newCaller, storesOf } from "../caller.ts";
import type { Simulator, Stage } from "../context.ts";
import { assertThat, found, type Outcome } from "../outcome.ts";
import { simulatorOrders } from "../simulator/client.ts";
import type { SetUp } from "./set-up.ts";

/** A key may send 60 orders a minute (docs/interface.md 6.1); retries count too. */
const ORDERS_PER_KEY = 25;

/**
 * Simultaneous purchases on one wallet, whose money suffices for three of four. Afterwards ledger, wallet and upstream
 * must agree to the kobo.
 */
export const buySimultaneously = async (
  count: number,
  simulator: Simulator,
  stage: Stage,
  { address }: SetUp,
): Promise<Outcome> => {
  const affordable = Math.floor((count * 3) / 4);
  const keyCount = Math.ceil(count / ORDERS_PER_KEY);
  const { accountId, keys } = await newCaller(stage, { address, naira: affordable * AIRTIME_NAIRA, keyCount });
  const startedMs = Date.now();
  const ordered = await Promise.all(
    Array.from({ length: count }, (_, index) => {
      const order = { reference: `simultaneous-${crypto.randomUUID()}`, phoneNumber: DELIVERED };
      return buyAirtime(stage, keys[index % keyCount] ?? "", order);
    }),
  );
  const tookS = ((Date.now() - startedMs) / 1_000).toFixed(1);
  const sold = ordered.flatMap((one) => ("reference" in one ? [one] : []));
  for (const { reference, status } of sold) {
    const ended = status === "processing" ? await finalStatus(stage, keys[0] ?? "", reference) : status;
    assertThat(ended === "success", `the purchase ${reference} ended as ${ended}`);
  }
  const codes = ordered.flatMap((one) => ("code" in one ? [one.code] : []));
  const others = codes.filter((code) => code !== "insufficient_balance");
  assertThat(others.length === 0, `${others.length} purchases were answered ${[...new Set(others)].join(", ")}`);
  assertThat(sold.length === affordable, `${sold.length} purchases were sold from money for ${affordable}`);

  const references = new Set(sold.map(({ reference }) => reference));
  assertThat(references.size === sold.length, "two purchases have one reference");
  const orders = (await simulatorOrders(simulator.SimulatorTable)).filter(({ reference }) => references.has(reference));
  assertThat(orders.length === sold.length, `the upstream has ${orders.length} orders for ${sold.length} purchases`);
  const { balance_kobo } = await readWallet(storesOf(stage).ledger, accountId);
  assertThat(balance_kobo === 0, `the wallet has ${balance_kobo} kobo instead of 0`);
  const { ok } = await stage.admin(z.object({ ok: z.boolean() }), ["wallet", "verify", accountId]);
  assertThat(ok, "the wallet does not reconcile with its entries");
  return found(`${sold.length} sold and ${codes.length} refused for lack of money in ${tookS} s, exact to the kobo`);
};
