import { expect, test } from "vitest";
import { endpointName, isDown, recipientsOf } from "../../../../../console/pages/account/endpoint-name.ts";

const endpoints = [
  { endpoint: "1", name: "Endpoint 1", down: false },
  { endpoint: "2", name: "Books", down: true },
];

test("an endpoint has its name, and is said to be removed only once the account's endpoints are known", () => {
  expect(endpointName(endpoints, "2")).toBe("Books");
  expect(endpointName(endpoints, "3")).toBe("Endpoint 3, removed");
  expect(endpointName([], "3")).toBe("Endpoint 3, removed");
  expect(endpointName(undefined, "3")).toBe("Endpoint 3");
});

test("an endpoint is down if the account's endpoints say so", () => {
  expect(["1", "2", "3"].map((id) => isDown(endpoints, id))).toEqual([false, true, false]);
  expect(isDown(undefined, "2")).toBe(false);
});

test("a webhook can be sent again to the endpoints that an account has, and to none while they are unknown", () => {
  expect(recipientsOf(endpoints, undefined)).toEqual(endpoints);
  expect(recipientsOf(endpoints, "2")).toEqual([expect.objectContaining({ name: "Books" })]);
  expect(recipientsOf(endpoints, "3")).toEqual([]);
  expect(recipientsOf(undefined, undefined)).toEqual([]);
});
