import { sleep } from "../../shared/platform/time.ts";
import type { AdapterProcess } from "./adapter-process.ts";
import { type CustomerOrder, commandOf, nameOf } from "./customer-orders.ts";
import { draws } from "./draws.ts";
import type { Answer } from "./protocol.ts";

/** Of 100 commands, how many are followed by a kill of the adapter, and when at the latest. */
const KILLS_OF_100 = 6;
const KILL_MS_MAX = 1_000;
/** When an order is placed again after `unknown` or a failure. */
const AGAIN_MS = 1_000;
/** A client that reports every order as failed would be asked for ever. */
const ROUNDS_MAX = 30;

/** What was reported of an order under one reference. */
export type Reported = { readonly reference: string; readonly answer: Answer };

export type Outcome = "success" | "failed";

export type Shop = {
  readonly seed: number;
  readonly adapter: AdapterProcess;
  /** The outcome of what was reported as `processing`; undefined if there is no transaction. */
  readonly outcomeOf: (reference: string) => Promise<Outcome | undefined>;
  readonly onEvent: (event: ShopEvent) => void;
};

export type ShopEvent = "client_kills" | "unknown" | "ordered_again" | "decided";

/** Sells to one customer as a shop does that trusts its client (docs/conformance.md). Adds what the client reports. */
export const sell = async (
  { seed, adapter, outcomeOf, onEvent }: Shop,
  order: CustomerOrder,
  reports: Reported[],
): Promise<void> => {
  let sent = 0;
  const place = (round: number): Promise<Answer> => {
    sent += 1;
    const name = `${nameOf(order)}/${sent}`;
    const chance = draws(seed, `kill ${name}`);
    if (chance() * 100 < KILLS_OF_100) {
      onEvent("client_kills");
      setTimeout(() => adapter.kill(), chance() * KILL_MS_MAX);
    }
    return adapter.buy(commandOf(order, round, name));
  };
  for (let round = 1; round <= ROUNDS_MAX; round += 1) {
    if (round > 1) {
      onEvent("ordered_again");
      await sleep(AGAIN_MS);
    }
    let answer = await place(round);
    while (answer.result === "unknown") {
      onEvent("unknown");
      await sleep(AGAIN_MS);
      answer = await place(round);
    }
    const { reference } = commandOf(order, round, "");
    reports.push({ reference, answer });
    const outcome = answer.result === "processing" ? await outcomeOf(reference) : answer.result;
    if (outcome !== "failed") break;
  }
  onEvent("decided");
};
