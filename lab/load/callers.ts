import * as z from "zod";
import { sleep } from "../../shared/platform/time.ts";
import { seeded } from "../../test/builders/run/seeded.ts";
import type { Fault } from "../../tools/simulator/faults.ts";
import { type Client, orderRequest, type Reply } from "./client.ts";
import type { LoadAccount } from "./service-process.ts";
import { type UpstreamFault, upstreamFaultOf } from "./upstream-faults.ts";

/** A response as a caller reads it. `none`: no response of the service, so that the outcome is unknown. */
export type Answer =
  | { readonly kind: "none"; readonly reason: string }
  | {
      readonly kind: "transaction";
      readonly reference: string;
      readonly status: "processing" | "success" | "failed";
      readonly replayed: boolean;
      /** The error code of a failed transaction. */
      readonly code?: string;
    }
  | { readonly kind: "refused"; readonly code: string; readonly retryAfterS: number | undefined };

/** One order with all responses to it, in order. */
export type PlacedOrder = {
  readonly account: LoadAccount;
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>> & { readonly reference: string };
  readonly amountNaira: number;
  readonly answers: Answer[];
};

export type Callers = {
  readonly placed: readonly PlacedOrder[];
  /** The duration of each request, whatever its response. */
  readonly durationsMs: readonly number[];
  /** The outcome of each request: a transaction's status, an error code, or the reason for no response. */
  readonly outcomes: readonly string[];
  /** Places the order with this number, and retries until the response is not an error that permits a retry. */
  readonly place: (index: number) => Promise<void>;
  /** Sends an order that has a transaction again, with the same body and the next key of its account. */
  readonly replayOne: () => Promise<void>;
  /** The references of all transactions that a response reported as failed. */
  readonly reportedFailed: () => ReadonlySet<string>;
};

const TRIES_MAX = 8;
const REPLAY_SEED = 20_261_121;

/** Callers that buy: orders rotate over the accounts, and requests over an account's keys. */
export const createCallers = (
  client: Client,
  accounts: readonly LoadAccount[],
  addFault: (fault: Fault) => void,
  faultOf: (index: number) => UpstreamFault | undefined = upstreamFaultOf,
): Callers => {
  const random = seeded(REPLAY_SEED);
  const placed: PlacedOrder[] = [];
  const replayable: PlacedOrder[] = [];
  const durationsMs: number[] = [];
  const outcomes: string[] = [];
  const turns = new Map<LoadAccount, number>();

  const nextKey = (account: LoadAccount): string => {
    const turn = turns.get(account) ?? 0;
    turns.set(account, turn + 1);
    return account.keys[turn % account.keys.length] ?? "";
  };

  const send = async ({ account, path, body, answers }: PlacedOrder): Promise<Answer> => {
    const reply = await client.send(orderRequest(path, nextKey(account), body));
    const answer = parseReply(reply);
    durationsMs.push(reply.durationMs);
    outcomes.push(outcomeOf(answer));
    answers.push(answer);
    return answer;
  };

  const place: Callers["place"] = async (index) => {
    const account = accounts[index % accounts.length];
    if (account === undefined) throw new Error("There are no accounts");
    const upstreamFault = faultOf(index);
    if (upstreamFault !== undefined && "fault" in upstreamFault) addFault(upstreamFault.fault);
    const order: PlacedOrder = { account, ...orderOf(index, upstreamFault), answers: [] };
    placed.push(order);
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const answer = await send(order);
      if (answer.kind === "transaction") {
        if (!mayBeUnknown(answer)) replayable.push(order);
        return;
      }
      if (answer.kind === "refused" && answer.retryAfterS === undefined) return;
      await sleep((answer.kind === "refused" ? (answer.retryAfterS ?? 0) : 1) * 1_000);
    }
  };

  return {
    placed,
    durationsMs,
    outcomes,
    place,
    replayOne: async () => {
      while (replayable.length === 0) await sleep(10);
      const order = replayable[Math.floor(random() * replayable.length)];
      if (order !== undefined) await send(order);
    },
    reportedFailed: () =>
      new Set(
        placed.flatMap(({ answers }) =>
          answers.flatMap((answer) =>
            answer.kind === "transaction" && answer.status === "failed" ? [answer.reference] : [],
          ),
        ),
      ),
  };
};

/**
 * This response is also that of an indeterminate debit: it names the transaction, which is refunded if the debit was
 * written.
 */
export const mayBeUnknown = (answer: Answer): boolean =>
  answer.kind === "transaction" && answer.code === "delivery_failed";

const plans = [
  { plan_id: 101, price: 500 },
  { plan_id: 102, price: 100 },
  { plan_id: 103, price: 350 },
  { plan_id: 104, price: 750 },
] as const;

/** Two data bundles for each airtime purchase; recipients differ, so that each order is identifiable by its number. */
const orderOf = (
  index: number,
  upstreamFault: UpstreamFault | undefined,
): Pick<PlacedOrder, "path" | "body" | "amountNaira"> => {
  const usual = `0803${String(index).padStart(7, "0")}`;
  const phoneNumber = upstreamFault !== undefined && "phoneNumber" in upstreamFault ? upstreamFault.phoneNumber : usual;
  const common = { phone_number: phoneNumber, reference: `order-${index}` };
  if (index % 3 === 0) {
    const amount = 50 + (index % 100);
    return { path: "/vtu/airtime/purchase", body: { network: "mtn", amount, ...common }, amountNaira: amount };
  }
  const { plan_id, price } = plans[index % plans.length] ?? plans[0];
  return { path: "/vtu/data/purchase", body: { network_id: 1, plan_id, ...common }, amountNaira: price };
};

const purchase = z.object({
  status: z.literal(true),
  data: z.object({ transaction: z.object({ reference: z.string(), status: z.enum(["processing", "success"]) }) }),
});

const parseReply = (reply: Reply): Answer => {
  if (reply.kind === "no_answer") return { kind: "none", reason: reply.reason };
  const header = (name: string): string | undefined => reply.headers[name]?.toString();
  const replayed = header("idempotent-replayed") === "true";
  const reference = header("x-transaction-reference");
  if (reply.status === 200) {
    const { transaction } = purchase.parse(JSON.parse(reply.text)).data;
    return { kind: "transaction", ...transaction, replayed };
  }
  const code = header("x-error-code");
  if (code === undefined) return { kind: "none", reason: `platform ${reply.status}` };
  if (reference !== undefined) return { kind: "transaction", reference, status: "failed", replayed, code };
  const seconds = header("retry-after");
  return { kind: "refused", code, retryAfterS: seconds === undefined ? undefined : Number(seconds) };
};

const outcomeOf = (answer: Answer): string => {
  if (answer.kind === "none") return answer.reason;
  if (answer.kind === "refused") return answer.code;
  return `${answer.replayed ? "replayed " : ""}${answer.code ?? answer.status}`;
};
