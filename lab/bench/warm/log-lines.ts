import { aNinCheck } from "../../../test/builders/identity.ts";
import { observe, weigh } from "../../../test/builders/observe.ts";
import { startReceiver } from "../../../test/builders/receiver.ts";
import { anOrder, BUY_DATA, type TestService } from "../../../test/builders/service.ts";
import { anUpstreamEvent } from "../../../test/builders/upstream-event.ts";
import { aWebhookChange } from "../../../test/builders/webhook-message.ts";
import { type Budget, budgets } from "../../../tools/costs/budgets.ts";
import { times } from "../extent.ts";

const SAMPLES = times(5);
const VERIFY_NIN = "/identity/nin/verify";

export type LogResults = {
  readonly title: string;
  readonly lines: number;
  /** The maximum of several requests. */
  readonly bytes: number;
  readonly bytesMax: number;
};

type Kind = { readonly budget: Budget; readonly prepare: () => Promise<() => Promise<unknown>> };

/** The log size of each kind of request, and its budget. */
export const measureLogLines = async (service: TestService): Promise<readonly LogResults[]> => {
  const receiver = await startReceiver();
  try {
    const results: LogResults[] = [];
    for (const { budget, prepare } of kindsOf(service, receiver.url)) {
      const { title, log } = budget;
      const bytes: number[] = [];
      while (bytes.length < SAMPLES) {
        const { lines } = await observe(service.proxy, log.events.length, await prepare());
        bytes.push(Buffer.byteLength(lines.join("")));
      }
      results.push({ title, lines: log.events.length, bytes: Math.max(...bytes), bytesMax: log.bytes });
    }
    return results;
  } finally {
    await receiver.stop();
  }
};

const kindsOf = (service: TestService, endpoint: string): readonly Kind[] => {
  const newKey = async (): Promise<string> => (await service.newCaller()).key;
  const buy = (key: string, order: Readonly<Record<string, unknown>> = {}) =>
    service.call("POST", BUY_DATA, { key, body: anOrder(order) });
  const list = (key: string, etag = "") =>
    weigh("GET", `${service.baseUrl}/vtu/data`, { authorization: `Bearer ${key}`, "if-none-match": etag });
  const report = async (): Promise<() => Promise<unknown>> => {
    const { url, headers, body } = await anUpstreamEvent(service);
    return () => weigh("POST", url, headers, body);
  };
  return [
    { budget: budgets.purchase, prepare: () => after(newKey, (key) => buy(key)) },
    { budget: budgets.replay, prepare: () => after(newKey, (key) => buy(key, { reference: "twice" }), 1) },
    { budget: budgets.overLimit, prepare: () => after(newKey, (key) => buy(key, { plan_id: 0 }), 121) },
    { budget: budgets.malformedKey, prepare: async () => () => buy("live_garbage") },
    {
      budget: budgets.identityCheck,
      prepare: () => after(newKey, (key) => service.call("POST", VERIFY_NIN, { key, body: aNinCheck() })),
    },
    { budget: budgets.catalog, prepare: () => after(newKey, (key) => list(key)) },
    {
      budget: budgets.catalogUnchanged,
      prepare: async () => {
        const key = await newKey();
        const { headers } = await list(key);
        return () => list(key, headers.etag);
      },
    },
    { budget: budgets.upstreamEvent, prepare: report },
    { budget: budgets.webhook, prepare: () => aWebhookChange(service, endpoint) },
  ];
};

/** Resolves with the request, after it was made this many times. */
const after = async <Given>(
  give: () => Promise<Given>,
  request: (given: Given) => Promise<unknown>,
  times = 0,
): Promise<() => Promise<unknown>> => {
  const given = await give();
  await Promise.all(Array.from({ length: times }, () => request(given)));
  return () => request(given);
};
