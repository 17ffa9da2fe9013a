import * as z from "zod";
import { sleep } from "../../shared/platform/time.ts";
import type { Fault } from "../../tools/simulator/faults.ts";
import { seeded } from "../builders/seeded.ts";
import { type Client, order, type Reply } from "./client.ts";
import type { LoadAccount } from "./service-process.ts";
import { type UpstreamFault, upstreamFaultOf } from "./upstream-faults.ts";

/** What an app reads of one answer. `none`: no answer of the service's own, which says nothing. */
export type Answer =
  | { readonly kind: "none"; readonly reason: string }
  | {
      readonly kind: "transaction";
      readonly reference: string;
      readonly status: "processing" | "success" | "failed";
      readonly replayed: boolean;
      /** Why it failed. */
      readonly code?: string;
    }
  | { readonly kind: "refused"; readonly code: string; readonly retryAfterS: number | undefined };

/** One order of an app with every answer to it, in the order in which they came. */
export type Placed = {
  readonly account: LoadAccount;
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>> & { readonly reference: string };
  readonly amountNaira: number;
  readonly answers: Answer[];
};

export type Callers = {
  readonly placed: readonly Placed[];
  /** How long each request took, whatever it was answered. */
  readonly durationsMs: readonly number[];
  /** What each request was answered: a status of a transaction, an error's code, or why there was no answer. */
  readonly outcomes: readonly string[];
  /** Places the order with this number, and goes on until its app knows more than "try again". */
  readonly place: (index: number) => Promise<void>;
  /** Repeats an order of which a transaction was made, with the same body and any key of its account. */
  readonly repeatOne: () => Promise<void>;
  /** Our references of all that an app was told to have failed. */
  readonly reportedFailed: () => ReadonlySet<string>;
};

const TRIES_MAX = 8;
const REPEAT_SEED = 20_261_121;

/** Callers that buy: each order is another account's, keys take turns, and each number is called once. */
export const createCallers = (
  client: Client,
  accounts: readonly LoadAccount[],
  addFault: (fault: Fault) => void,
): Callers => {
  const random = seeded(REPEAT_SEED);
  const placed: Placed[] = [];
  const answered: Placed[] = [];
  const durationsMs: number[] = [];
  const outcomes: string[] = [];
  const turns = new Map<LoadAccount, number>();

  const nextKey = (account: LoadAccount): string => {
    const turn = turns.get(account) ?? 0;
    turns.set(account, turn + 1);
    return account.keys[turn % account.keys.length] ?? "";
  };

  const send = async ({ account, path, body, answers }: Placed): Promise<Answer> => {
    const reply = await client.send(order(path, nextKey(account), body));
    const answer = read(reply);
    durationsMs.push(reply.durationMs);
    outcomes.push(outcomeOf(answer));
    answers.push(answer);
    return answer;
  };

  const place: Callers["place"] = async (index) => {
    const account = accounts[index % accounts.length];
    if (account === undefined) throw new Error("There are no accounts");
    const upstreamFault = upstreamFaultOf(index);
    if (upstreamFault !== undefined && "fault" in upstreamFault) addFault(upstreamFault.fault);
    const one: Placed = { account, ...orderOf(index, upstreamFault), answers: [] };
    placed.push(one);
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const answer = await send(one);
      if (answer.kind === "transaction") {
        if (!mayBeUnknown(answer)) answered.push(one);
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
    repeatOne: async () => {
      while (answered.length === 0) await sleep(10);
      const one = answered[Math.floor(random() * answered.length)];
      if (one !== undefined) await send(one);
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

/** The answer to a debit in doubt, too: it names the transaction that was perhaps made, and that is taken back if it was. */
export const mayBeUnknown = (answer: Answer): boolean =>
  answer.kind === "transaction" && answer.code === "delivery_failed";

const plans = [
  { plan_id: 101, price: 500 },
  { plan_id: 102, price: 100 },
  { plan_id: 103, price: 350 },
  { plan_id: 104, price: 750 },
] as const;

/** Two bundles for one top-up; the numbers of recipients differ, so that an order is known by its own. */
const orderOf = (
  index: number,
  upstreamFault: UpstreamFault | undefined,
): Pick<Placed, "path" | "body" | "amountNaira"> => {
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

const read = (reply: Reply): Answer => {
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
