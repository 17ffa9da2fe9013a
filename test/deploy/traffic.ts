import { headers } from "../../shared/contract/headers.ts";
import { sleep } from "../../shared/platform/time.ts";
import type { ContractDocument, Json } from "../contract/document.ts";
import { type Received, send } from "../contract/exchange.ts";

/** What an app orders, and how the upstream's simulator ends it. Source: docs/interface.md 3.4, 3.5. */
const orders = [
  { operation: "buyAirtime", body: { network: "mtn", phone_number: "08031234567", amount: 100 }, ends: "success" },
  { operation: "buyAirtime", body: { network: "mtn", phone_number: "08000000002", amount: 150 }, ends: "success" },
  { operation: "buyData", body: { network_id: 1, plan_id: 101, phone_number: "08000000003" }, ends: "failed" },
  { operation: "verifyNin", body: { nin: "00000000000", is_consent: true, mode: "basic" }, ends: "success" },
  { operation: "buyAirtime", body: { network: "mtn", phone_number: "08000000001", amount: 200 }, ends: "failed" },
] as const;

/** An order and every response to it; `received` is empty while the first is awaited. */
export type PlacedOrder = {
  readonly operation: string;
  readonly body: Json & { readonly reference: string };
  readonly ends: "success" | "failed";
  readonly key: string;
  readonly received: Received[];
};

export type Exchange = { readonly operation: string; readonly received: Received };

export type Traffic = {
  readonly placed: PlacedOrder[];
  /** All requests, in the order of their responses. */
  readonly exchanges: Exchange[];
  /** Sends a request and records it. */
  readonly ask: (
    operation: string,
    key: string,
    request?: Omit<Parameters<typeof send>[2], "key">,
  ) => Promise<Received>;
  /** Ends the traffic once the last order has an answer. */
  readonly stop: () => Promise<void>;
};

/** Between an answer and the next request of the same client. */
const PAUSE_MS = 500;
const ATTEMPTS_MAX = 60;

/**
 * The traffic of an app: a client for each key places one order after the other, and sends each again with its reference
 * until its answer says what happened (README.md, "Integrate"); another client looks up what was ordered. A client
 * waits for its answer, so that a slow machine gets no more requests at once than there are clients.
 */
export const startTraffic = (baseUrl: string, document: ContractDocument, keys: readonly string[]): Traffic => {
  const placed: PlacedOrder[] = [];
  const exchanges: Exchange[] = [];
  let isStopped = false;

  const ask: Traffic["ask"] = async (operation, key, request = {}) => {
    const received = await send(baseUrl, document.operation(operation), { ...request, key });
    exchanges.push({ operation, received });
    return received;
  };

  const place = async (key: string): Promise<void> => {
    const count = placed.length;
    const { operation, body, ends } = orders[count % orders.length] ?? orders[0];
    const order: PlacedOrder = {
      operation,
      body: { ...body, reference: `rehearsal-${count}` },
      ends,
      key,
      received: [],
    };
    placed.push(order);
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
      const received = await ask(operation, key, { body: order.body });
      order.received.push(received);
      if (isEnd(received)) return;
      await sleep(Number(received.headers.get(headers.retryAfter) ?? 1) * 1_000);
    }
  };
  const readers = ["getWallet", "getTransaction", "listTransactions", "listCatalog"];
  const read = async (count: number): Promise<void> => {
    const operation = readers[count % readers.length] ?? "";
    const order = placed.findLast(({ received }) => received.at(-1)?.headers.has(headers.transactionReference));
    const reference = order?.body.reference;
    if (operation !== "getTransaction") await ask(operation, keys[0] ?? "");
    else if (order && reference) await ask(operation, order.key, { parameters: { reference } });
  };
  const repeat = async (work: (count: number) => Promise<void>): Promise<void> => {
    for (let count = 0; !isStopped; count += 1) {
      await work(count);
      await sleep(PAUSE_MS);
    }
  };

  const clients = Promise.all([...keys.map((key) => repeat(() => place(key))), repeat(read)]);
  // A failure is reported by stop.
  clients.catch(() => {});
  return {
    placed,
    exchanges,
    ask,
    stop: async () => {
      isStopped = true;
      await clients;
    },
  };
};

/** Whether nothing more is to be sent: the order is known, or was refused for good. */
const isEnd = ({ status, headers: received }: Received): boolean =>
  status === 200 || (received.has(headers.errorCode) && !received.has(headers.retryAfter));
