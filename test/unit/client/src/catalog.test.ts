import { expect, test } from "vitest";
import { AirtimeClient, PriceChangedError } from "../../../../client/src/index.ts";

/** Goal: an answer that another one overtook changes no price. Method: a fetch whose answers the test gives in its order. */
const aClient = () => {
  const sent: ((response: Response) => void)[] = [];
  const client = new AirtimeClient({
    baseUrl: "https://service.example/v1",
    apiKey: "live_key",
    fetch: () => {
      const { promise, resolve } = Promise.withResolvers<Response>();
      sent.push(resolve);
      return promise;
    },
  });
  return { client, sent };
};

const catalogWith = (price: number): Response =>
  Response.json({ status: true, data: { networks: [], data_plans: [{ id: 101, network_id: 1, price }] } });
const priceIn = async (catalog: Promise<{ dataPlans: readonly { price: number }[] }>) =>
  (await catalog).dataPlans[0]?.price;

test("an answer that comes after the one to a later request does not replace the newer catalog", async () => {
  const { client, sent } = aClient();
  const overtaken = client.catalog.get();
  const later = client.catalog.get();
  sent[1]?.(catalogWith(550));
  expect(await priceIn(later)).toBe(550);
  sent[0]?.(catalogWith(500));
  expect(await priceIn(overtaken)).toBe(550);
  expect(await priceIn(client.catalog.get())).toBe(550);
  expect(sent).toHaveLength(2);
});

test("an answer that was asked for before a price was refused does not stay fresh", async () => {
  const { client, sent } = aClient();
  const asked = client.catalog.get();
  const bundle = { networkId: 1, planId: 101, phoneNumber: "08031234567", expectedPrice: 500 };
  const order = client.data.purchase(bundle, { reference: "order-1" });
  const refusal = {
    "x-error-code": "price_changed",
    "x-caller-reference": "order-1",
    "x-transaction-reference": "DATA_1",
  };
  sent[1]?.(Response.json({ status: false, message: "changed" }, { status: 422, headers: refusal }));
  await expect(order).rejects.toBeInstanceOf(PriceChangedError);
  sent[0]?.(catalogWith(500));
  expect(await priceIn(asked)).toBe(500);
  const next = client.catalog.get();
  expect(sent).toHaveLength(3);
  sent[2]?.(catalogWith(550));
  expect(await priceIn(next)).toBe(550);
});
