import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { headers } from "../../shared/contract/headers.ts";

type OrderKind = {
  readonly path: string;
  readonly body: object;
  /** The status of its first answer, and its error code. */
  readonly answer: readonly [status: number, code: string | null];
  readonly ends: "success" | "failed";
};

/** Orders with a test key, and what the interface says of them. Source: docs/interface.md 3.4, 3.5. */
const orderKinds: readonly [OrderKind, ...OrderKind[]] = [
  {
    path: "/vtu/airtime/purchase",
    body: { network: "mtn", phone_number: "08031234567", amount: 100 },
    answer: [200, null],
    ends: "success",
  },
  {
    path: "/vtu/airtime/purchase",
    body: { network: "mtn", phone_number: "08000000002", amount: 150 },
    answer: [200, null],
    ends: "success",
  },
  {
    path: "/vtu/data/purchase",
    body: { network_id: 1, plan_id: 101, phone_number: "08000000003" },
    answer: [200, null],
    ends: "failed",
  },
  {
    path: "/identity/nin/verify",
    body: { nin: "00000000000", is_consent: true, mode: "basic" },
    answer: [200, null],
    ends: "success",
  },
  {
    path: "/vtu/airtime/purchase",
    body: { network: "mtn", phone_number: "08000000001", amount: 200 },
    answer: [502, "delivery_failed"],
    ends: "failed",
  },
];

export type Answer = {
  readonly request: string;
  readonly status: number;
  readonly code: string | null;
  readonly isReplay: boolean;
  /** The service's reference of the transaction. */
  readonly transaction: string | null;
  readonly text: string;
};

export type PlacedOrder = OrderKind & {
  readonly key: string;
  readonly callerReference: string;
  /** The service's reference, empty until the service has taken the order. */
  reference: string;
};

export type Traffic = {
  readonly placed: readonly PlacedOrder[];
  /** Those that the service has taken. */
  readonly taken: () => readonly PlacedOrder[];
  /** What was answered otherwise than the interface says. */
  readonly failures: readonly Answer[];
  /** How many requests were answered, and how many orders were refused because the stage did not sell. */
  readonly counts: { readonly requests: number; readonly postponed: number };
  /** Sends an order again, and resolves with its answer. */
  readonly replay: (order: PlacedOrder) => Promise<Answer>;
  /** Reads with a key with which nothing else is read, because of its limit. */
  readonly get: (path: string) => Promise<Answer>;
  /** Ends the traffic once every order was taken. */
  readonly stop: () => Promise<void>;
};

/** Between an answer and the next request of the same client: a key may make 60 purchases a minute. */
const PAUSE_MS = 1_200;
/** While the stage does not sell: sooner than the 5 minutes of Retry-After, and below 30 identity checks a minute. */
const POSTPONED_MS = 3_000;

const transactionOf = z.object({ data: z.object({ transaction: z.object({ reference: z.string() }) }) });

/**
 * The traffic of an app: a client for each key places one order after the other, and another one reads. Each waits for
 * its answer, so that a slow machine gets no more requests at once than there are clients.
 */
export const startTraffic = (baseUrl: string, keys: readonly [string, string, ...string[]]): Traffic => {
  const placed: PlacedOrder[] = [];
  const failures: Answer[] = [];
  const counts = { requests: 0, postponed: 0 };
  let isStopped = false;

  const ask = async (path: string, key: string, body?: object): Promise<Answer> => {
    counts.requests += 1;
    const request = `${body ? "POST" : "GET"} ${path}`;
    try {
      const response = await fetch(`${baseUrl}${path}`, {
        method: body ? "POST" : "GET",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        ...(body && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      const { data } = response.status === 200 ? transactionOf.safeParse(JSON.parse(text)) : {};
      return {
        request,
        status: response.status,
        code: response.headers.get(headers.errorCode),
        isReplay: response.headers.get(headers.idempotentReplayed) === "true",
        transaction: response.headers.get(headers.transactionReference) ?? data?.data.transaction.reference ?? null,
        text,
      };
    } catch (error) {
      // No answer at all.
      return { request, status: 0, code: null, isReplay: false, transaction: null, text: String(error) };
    }
  };

  const send = ({ path, key, body, callerReference }: PlacedOrder): Promise<Answer> =>
    ask(path, key, { ...body, reference: callerReference });

  const place = async (key: string): Promise<void> => {
    const kind = orderKinds[placed.length % orderKinds.length] ?? orderKinds[0];
    const order: PlacedOrder = { ...kind, key, callerReference: `order-${placed.length}`, reference: "" };
    placed.push(order);
    for (;;) {
      const answer = await send(order);
      order.reference = answer.transaction ?? "";
      if (answer.status === kind.answer[0] && answer.code === kind.answer[1] && answer.transaction !== null) return;
      if (answer.code !== "provider_unavailable" || answer.transaction !== null) failures.push(answer);
      else counts.postponed += 1;
      await sleep(POSTPONED_MS);
    }
  };

  const taken = () => placed.filter(({ reference }) => reference !== "");

  const read = async (count: number): Promise<void> => {
    const order = taken().at(-1);
    const paths = ["/wallet", "/transactions", "/vtu/data", ...(order ? [`/transactions/${order.reference}`] : [])];
    const answer = await ask(paths[count % paths.length] ?? "", keys[0]);
    if (answer.status !== 200) failures.push(answer);
  };

  const repeat = async (work: (count: number) => Promise<void>): Promise<void> => {
    for (let count = 0; !isStopped; count += 1) {
      await work(count);
      await sleep(PAUSE_MS);
    }
  };
  const clients = Promise.all([...keys.map((key) => repeat(() => place(key))), repeat(read)]);
  return {
    placed,
    taken,
    failures,
    counts,
    replay: send,
    get: (path) => ask(path, keys[1]),
    stop: async () => {
      isStopped = true;
      await clients;
    },
  };
};
