import { describe, expect, test } from "vitest";
import {
  AirtimeClient,
  type ClientOptions,
  NotFoundError,
  OutcomeUnknownError,
  PlanUnavailableError,
  PriceChangedError,
  WaitEndedError,
} from "../../../../client/src/index.ts";
import {
  answers,
  drops,
  hangs,
  refuses,
  type Step,
  startScriptedServer,
  succeeds,
} from "../../../builders/network/scripted-server.ts";

const scripted = async (script: readonly Step[], options: Partial<ClientOptions> = {}) => {
  const { baseUrl, received } = await startScriptedServer(...script);
  return { client: new AirtimeClient({ baseUrl, apiKey: "live_key", ...options }), received };
};
const view = (status: string, reference = "DATA_1", callerReference = "order-1") => ({
  reference,
  status,
  amount: 500,
  caller_reference: callerReference,
});
const found = (status: string, ...references: string[]): Step => succeeds({ transaction: view(status, ...references) });
const notFound = refuses(404, "not_found");

describe.concurrent("transactions", () => {
  test("are looked up by a reference in the path, and by nothing that cannot be one", async () => {
    const { client, received } = await scripted([found("success", "DATA_1", "shop:1")]);
    await expect(client.transactions.get("shop:1")).resolves.toMatchObject({ reference: "DATA_1" });
    expect(received[0]).toMatchObject({
      path: "/v1/transactions/shop:1",
      headers: { authorization: "Bearer live_key" },
    });
    for (const reference of ["", ".", "..", "a/b", "a b", "\ud800", "x".repeat(101)]) {
      for (const refused of [
        client.transactions.get(reference),
        client.transactions.wait(reference),
        client.transactions.cancel({ reference, type: "data" }),
      ]) {
        await expect(refused).rejects.toBeInstanceOf(TypeError);
      }
    }
    expect(received).toHaveLength(1);
  });

  test("that are unknown throw a NotFoundError", async () => {
    const { client } = await scripted([notFound]);
    await expect(client.transactions.get("order-1")).rejects.toBeInstanceOf(NotFoundError);
  });

  test("are waited for until their status is final, through a 404, a lost answer and a rate limit", async () => {
    const limited = refuses(429, "rate_limited", { "retry-after": "1" });
    const { client } = await scripted([notFound, drops, limited, found("processing"), found("failed")]);
    await expect(client.transactions.wait("order-1")).resolves.toMatchObject({ status: "failed" });
  });

  test("that are not final in time throw a WaitEndedError, which has the transaction", async () => {
    const { client } = await scripted([found("processing")]);
    const waiting = client.transactions.wait("order-1", { timeoutMs: 5_000 });
    await expect(waiting).rejects.toBeInstanceOf(WaitEndedError);
    await expect(waiting).rejects.toMatchObject({ reference: "order-1", transaction: { status: "processing" } });

    const unseen = await scripted([notFound]);
    await expect(unseen.client.transactions.wait("order-1", { timeoutMs: 1_500 })).rejects.toMatchObject({
      name: "WaitEndedError",
      transaction: undefined,
      message: expect.stringContaining("same reference"),
    });
    const silent = await scripted([drops]);
    await expect(silent.client.transactions.wait("order-1", { timeoutMs: 1_500 })).rejects.toMatchObject({
      name: "WaitEndedError",
      cause: { name: "NoAnswerError" },
    });
  });

  test("that are waited for with a refused key or an aborted signal throw a WaitEndedError, because they may be paid", async () => {
    const refused = await scripted([refuses(403, "account_restricted")]);
    await expect(refused.client.transactions.wait("order-1")).rejects.toMatchObject({
      name: "WaitEndedError",
      reference: "order-1",
      cause: { name: "PermissionError" },
    });
    const { client, received } = await scripted([found("processing"), refuses(401, "invalid_api_key")]);
    await expect(client.transactions.wait("order-1")).rejects.toMatchObject({
      name: "WaitEndedError",
      transaction: { status: "processing" },
      cause: { name: "AuthenticationError" },
    });
    expect(received).toHaveLength(2);

    for (const script of [[found("processing")], [hangs]]) {
      const aborted = await scripted(script);
      const waiting = aborted.client.transactions.wait("order-1", { signal: AbortSignal.timeout(300) });
      await expect(waiting).rejects.toMatchObject({ name: "WaitEndedError", cause: { name: "TimeoutError" } });
    }
  });

  test("are not read from an answer whose status is unknown, so that no app takes it for failed", async () => {
    const { client } = await scripted([found("queued"), found("success")]);
    await expect(client.transactions.get("order-1")).resolves.toMatchObject({ status: "success" });
  });

  test("are not read from an answer about another one, by either reference", async () => {
    const others = [found("success", "DATA_2", "order-2"), found("success", "TEST_1", "order-1")];
    const { client } = await scripted([...others, found("processing"), ...others, found("failed")]);
    await expect(client.transactions.get("order-1")).resolves.toMatchObject({ status: "processing" });
    await expect(client.transactions.wait("DATA_1")).resolves.toMatchObject({ status: "failed" });
  });

  test("say of an aborted lookup no word about an order", async () => {
    const { client } = await scripted([hangs]);
    await expect(client.transactions.get("order-1", { signal: AbortSignal.timeout(200) })).rejects.toMatchObject({
      name: "AbortedError",
      message: "The call was aborted",
    });
  });

  test("are listed page after page, also after an empty one", async () => {
    const { client, received } = await scripted([
      succeeds({ transactions: [view("success", "DATA_A"), view("success", "DATA_B")], next_cursor: "c1" }),
      succeeds({ transactions: [], next_cursor: "c2" }),
      succeeds({ transactions: [view("success", "DATA_C")], next_cursor: null }),
    ]);
    const references: string[] = [];
    const filter = { status: "success", from: new Date(0), to: "2026-11-21T09:30:00+01:00" } as const;
    for await (const { reference } of client.transactions.list(filter)) references.push(reference);
    expect(references).toEqual(["DATA_A", "DATA_B", "DATA_C"]);
    const queries = received.map(({ path }) => Object.fromEntries(new URL(path, "http://localhost").searchParams));
    const sent = { status: "success", from: "1970-01-01T00:00:00.000Z", to: "2026-11-21T09:30:00+01:00" };
    expect(queries).toEqual([sent, { ...sent, cursor: "c1" }, { ...sent, cursor: "c2" }]);
  });
});

describe.concurrent("a cancellation", () => {
  const order = { reference: "order-1", type: "data" } as const;

  test("is sent until it is answered, and returns the transaction as it is", async () => {
    for (const status of ["failed", "success", "processing"]) {
      const { client, received } = await scripted([
        drops,
        refuses(429, "rate_limited", { "retry-after": "1" }),
        found(status),
      ]);
      await expect(client.transactions.cancel(order)).resolves.toMatchObject({ status, callerReference: "order-1" });
      expect(received.map(({ path }) => path)).toEqual(new Array(3).fill("/v1/transactions/cancel"));
    }
  });

  test("without an answer of the service throws, and says nothing about the order", async () => {
    const { client } = await scripted([found("failed", "DATA_1", "order-2")], { timeoutMs: 1_500 });
    await expect(client.transactions.cancel(order)).rejects.toMatchObject({ name: "NoAnswerError" });
    const refused = await scripted([refuses(403, "permission_denied")]);
    await expect(refused.client.transactions.cancel(order)).rejects.toMatchObject({ name: "PermissionError" });
    await expect(client.transactions.cancel({ ...order, reference: "" })).rejects.toBeInstanceOf(TypeError);
  });
});

describe.concurrent("a page of transactions", () => {
  const page = (status: string, reference: string, cursor: string | null): Step =>
    succeeds({ transactions: [view(status, reference)], next_cursor: cursor });

  test("of another list, or the page before, is no answer, so that no page is read for ever", async () => {
    const { client, received } = await scripted([
      page("failed", "DATA_8", null),
      page("success", "TEST_9", null),
      page("success", "DATA_1", "c1"),
      page("success", "DATA_1", "c1"),
      page("success", "DATA_2", null),
    ]);
    const references: string[] = [];
    for await (const { reference } of client.transactions.list({ status: "success" })) references.push(reference);
    expect(references).toEqual(["DATA_1", "DATA_2"]);
    expect(received).toHaveLength(5);
  });
});

describe.concurrent("the catalog", () => {
  const body = {
    networks: [{ id: 1, name: "MTN", code: "mtn" }],
    data_plans: [{ id: 101, network_id: 1, price: 500 }],
  };
  const catalog = { networks: body.networks, dataPlans: [{ id: 101, networkId: 1, price: 500 }] };
  const fresh = succeeds(body, { etag: '"v1"' });
  const unchanged: Step = (response) => void response.writeHead(304, { etag: '"v1"' }).end();

  test("is kept, and asked for with its ETag when it is revalidated", async () => {
    const { client, received } = await scripted([fresh, unchanged]);
    const first = await client.catalog.get();
    expect(first).toEqual(catalog);
    first.networks.pop();
    await expect(client.catalog.get()).resolves.toEqual(catalog);
    expect(received).toHaveLength(1);
    await expect(client.catalog.get({ revalidate: true })).resolves.toEqual(catalog);
    expect(received[1]?.headers["if-none-match"]).toBe('"v1"');
  });

  test("keeps the tag of its bytes after a 304 without a tag, or with another one", async () => {
    for (const headers of [{}, { etag: '"v2"' }]) {
      const { client, received } = await scripted([fresh, (response) => void response.writeHead(304, headers).end()]);
      await client.catalog.get();
      await client.catalog.get({ revalidate: true });
      await expect(client.catalog.get({ revalidate: true })).resolves.toEqual(catalog);
      expect(received.map(({ headers }) => headers["if-none-match"])).toEqual([undefined, '"v1"', '"v1"']);
    }
  });

  test("has the price that an order of a bundle expects, unless the order names one or the client does not expect it", async () => {
    const order = { networkId: 1, planId: 101, phoneNumber: "08031234567" };
    const bought = succeeds({ transaction: { ...view("success"), type: "data", phone_number: order.phoneNumber } });
    const expected = async (change: Partial<ClientOptions>, ...orders: readonly object[]) => {
      const { client, received } = await scripted([fresh, ...orders.map(() => bought)], change);
      await client.catalog.get();
      for (const fields of orders) await client.data.purchase({ ...order, ...fields }, { reference: "order-1" });
      return received.slice(1).map(({ body }) => JSON.parse(body).expected_price);
    };
    expect(await expected({}, {}, { planId: 999 }, { expectedPrice: 450.5 })).toEqual([500, undefined, 450.5]);
    expect(await expected({ expectCatalogPrice: false }, {}, { expectedPrice: 450.5 })).toEqual([undefined, 450.5]);
  });

  test("is revalidated after another price than its own was refused, and the next order expects the new one", async () => {
    const cancelled = succeeds({ transaction: { ...view("failed"), error_code: "order_cancelled" } });
    const repriced = succeeds({ ...body, data_plans: [{ id: 101, network_id: 1, price: 550 }] }, { etag: '"v2"' });
    const refused = [refuses(422, "price_changed"), cancelled];
    const { client, received } = await scripted([fresh, ...refused, repriced, ...refused]);
    const order = { networkId: 1, planId: 101, phoneNumber: "08031234567" };
    const buy = () => client.data.purchase(order, { reference: "order-1" });
    await client.catalog.get();
    await expect(buy()).rejects.toBeInstanceOf(PriceChangedError);
    await expect(client.catalog.get()).resolves.toMatchObject({ dataPlans: [{ price: 550 }] });
    await expect(buy()).rejects.toBeInstanceOf(PriceChangedError);
    expect(received.flatMap(({ body }) => (body.includes("plan_id") ? JSON.parse(body).expected_price : []))).toEqual([
      500, 550,
    ]);
  });

  test.each<[string, Step, typeof PlanUnavailableError | typeof OutcomeUnknownError]>([
    ["", succeeds({ transaction: { ...view("failed"), error_code: "order_cancelled" } }), PlanUnavailableError],
    [" also if the order could not be cancelled", refuses(403, "account_restricted"), OutcomeUnknownError],
  ])("is revalidated after a plan of it was refused%s", async (_, cancellation, refused) => {
    const { client, received } = await scripted([fresh, refuses(422, "plan_unavailable"), cancellation, unchanged]);
    await client.catalog.get();
    const order = { networkId: 1, planId: 101, phoneNumber: "08031234567" };
    await expect(client.data.purchase(order, { reference: "order-1" })).rejects.toBeInstanceOf(refused);
    await client.catalog.get();
    expect(received).toHaveLength(4);
  });

  test("is not taken from a 304 that nobody asked for", async () => {
    const { client } = await scripted([answers(304, ""), fresh]);
    await expect(client.catalog.get()).rejects.toMatchObject({ name: "NoAnswerError", status: 304 });
  });
});
