import { describe, expect, test } from "vitest";
import { usableCatalog } from "../../../../shared/catalog/usable-catalog.ts";
import { aCatalog, aPlan } from "../../../builders/upstream/catalog.ts";

const good = aPlan({ id: 900 });
const withPlans = (...plans: readonly unknown[]) => usableCatalog({ ...aCatalog(0), data_plans: [good, ...plans] });

test.each([
  ["a price of 0", aPlan({ price: 0 }), "101", "price"],
  ["a negative price", aPlan({ price: -500 }), "101", "price"],
  ["a price with 3 decimals", aPlan({ price: 500.005 }), "101", "price"],
  ["a price above 10,000,000", aPlan({ price: 10_000_000.01 }), "101", "price"],
  ["a price in words", { ...aPlan(), price: "N500" }, "101", "price"],
  ["a price as a power of ten", { ...aPlan(), price: "5e2" }, "101", "price"],
  ["a price behind a blank", { ...aPlan(), price: " 500" }, "101", "price"],
  ["no price", { ...aPlan(), price: undefined }, "101", "price"],
  ["a name of 121 characters", aPlan({ name: "G".repeat(121) }), "101", "name"],
  ["a name of spaces", aPlan({ name: "  " }), "101", "name"],
  ["a validity of 61 characters", aPlan({ validity: "d".repeat(61) }), "101", "validity"],
  ["no validity", { ...aPlan(), validity: undefined }, "101", "validity"],
  ["an id in words", { ...aPlan(), id: "one" }, '"one"', "id"],
  ["an id of 0", aPlan({ id: 0 }), "0", "id"],
  ["an id with decimals", aPlan({ id: 101.5 }), "101.5", "id"],
  ["no id", { ...aPlan(), id: undefined }, "number 2 of the list", "id"],
  ["an id in long text", { ...aPlan(), id: "x".repeat(21) }, "number 2 of the list", "id"],
  ["a network that is not there", aPlan({ network_id: 9 }), "101", "network_id"],
  ["a network in words", { ...aPlan(), network_id: "mtn" }, "101", "network_id"],
  ["no fields, but null", null, "number 2 of the list", "entry"],
  ["no fields, but text", "1GB", "number 2 of the list", "entry"],
])("a plan with %s is dropped, named by id and field, and the others are served", (_what, odd, id, field) => {
  const { catalog, dropped } = withPlans(odd);
  expect(catalog.data_plans).toEqual([good]);
  expect(dropped).toEqual([{ kind: "plan", id, field }]);
});

describe("plans that share an id", () => {
  test("equal plans with the same id count as one", () => {
    const { catalog, dropped } = withPlans(good, good);
    expect(catalog.data_plans).toEqual([good]);
    expect(dropped).toEqual([
      { kind: "plan", id: "900", field: "id" },
      { kind: "plan", id: "900", field: "id" },
    ]);
  });

  test("different plans with the same id are all dropped", () => {
    const other = aPlan({ id: 901 });
    const { catalog, dropped } = withPlans({ ...good, price: 1 }, other);
    expect(catalog.data_plans).toEqual([other]);
    expect(dropped).toHaveLength(2);
  });

  test("of two plans with the same id an invalid one does not affect the other", () => {
    const { catalog, dropped } = withPlans({ ...good, price: 0 });
    expect(catalog.data_plans).toEqual([good]);
    expect(dropped).toEqual([{ kind: "plan", id: "900", field: "price" }]);
  });
});

test("a name that was cut within a character is served without the half of it, which DynamoDB refuses in an order", () => {
  const networks = [{ id: 1, name: "MTN 😀".slice(0, -1), code: "mtn" }];
  const { catalog, dropped } = usableCatalog({ ...aCatalog(1), networks });
  expect(catalog.networks).toMatchObject([{ name: "MTN \ufffd" }]);
  expect(dropped).toEqual([]);
});

test("an invalid network is dropped with its plans, and the others are served", () => {
  const sent = {
    networks: [
      { id: 1, name: "MTN", code: "mtn" },
      { id: 2, name: "", code: "airtel" },
      { id: 3, name: "Glo", code: "glo" },
      { id: 3, name: "Glo", code: "globacom" },
    ],
    data_plans: [aPlan({ id: 101 }), aPlan({ id: 201, network_id: 2 }), aPlan({ id: 301, network_id: 3 })],
  };
  const { catalog, dropped } = usableCatalog(sent);
  expect(catalog).toEqual({ networks: [{ id: 1, name: "MTN", code: "mtn" }], data_plans: [aPlan({ id: 101 })] });
  expect(dropped).toEqual([
    { kind: "network", id: "2", field: "name" },
    { kind: "network", id: "3", field: "id" },
    { kind: "network", id: "3", field: "id" },
    { kind: "plan", id: "201", field: "network_id" },
    { kind: "plan", id: "301", field: "network_id" },
  ]);
});

test("names are trimmed, codes become lower-case, prices are rounded to kobo, text is read as a number, and unknown fields are left out", () => {
  const asText = { id: "102", network_id: "1", price: "485.50" };
  const sent = {
    networks: [{ id: "1", name: " MTN ", code: " MTN ", logo: "mtn.png" }],
    data_plans: [
      { ...aPlan({ name: " 1GB ", price: 55.00000000000001 }), cost: 480 },
      { ...aPlan(), ...asText },
    ],
  };
  expect(usableCatalog(sent)).toEqual({
    catalog: {
      networks: [{ id: 1, name: "MTN", code: "mtn" }],
      data_plans: [aPlan({ price: 55 }), aPlan({ id: 102, price: 485.5 })],
    },
    dropped: [],
  });
});
