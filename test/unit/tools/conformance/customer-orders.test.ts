import { expect, test } from "vitest";
import { commandOf, customerOrders, isAsOrdered, isFor } from "../../../../tools/conformance/customer-orders.ts";

const orders = customerOrders(7, 500, 0);

test("each delivery belongs to one order, also where several orders have a number that selects an outcome", () => {
  const deliveries = orders.flatMap((order) => {
    const { amount = 500, phone_number: phoneNumber } = { amount: undefined, ...commandOf(order, 1, "") };
    return [{ phoneNumber, amountKobo: amount * 100 }];
  });
  expect(new Set(deliveries.map(({ phoneNumber }) => phoneNumber)).size).toBeLessThan(deliveries.length);
  for (const [index, delivery] of deliveries.entries()) {
    expect(orders.filter((order) => isFor(order, delivery))).toEqual([orders[index]]);
  }
});

test("a delivery of another amount, kind or network is not as ordered", () => {
  const airtime = orders.find(({ kind }) => kind === "airtime");
  if (airtime === undefined) throw new Error("No order is of airtime");
  const placed = { type: "airtime", networkName: "MTN", amountKobo: airtime.priceNaira * 100 } as const;
  expect(isAsOrdered(airtime, placed)).toBe(true);
  expect(isAsOrdered(airtime, { ...placed, amountKobo: placed.amountKobo * 100 })).toBe(false);
  expect(isAsOrdered(airtime, { ...placed, type: "data" })).toBe(false);
  expect(isAsOrdered(airtime, { ...placed, networkName: "Glo" })).toBe(false);
});

test("the same seed makes the same orders, and another one others", () => {
  expect(customerOrders(7, 500, 0)).toEqual(orders);
  expect(customerOrders(8, 500, 0)).not.toEqual(orders);
});

test("an order that is placed again has another reference, and its own number", () => {
  const selecting = orders.find(({ firstPhoneNumber }) => firstPhoneNumber !== undefined);
  if (selecting === undefined) throw new Error("No order has a number that selects an outcome");
  const [first, second] = [commandOf(selecting, 1, "a"), commandOf(selecting, 2, "b")];
  expect(first.phone_number).toBe(selecting.firstPhoneNumber);
  expect(second.phone_number).toBe(selecting.phoneNumber);
  expect(second.reference).not.toBe(first.reference);
});
