import { describe, expect, test } from "vitest";
import { changeBetween } from "../../../../shared/catalog/catalog-change.ts";
import type { Catalog } from "../../../../shared/contract/catalog.ts";
import { catalogUpdated } from "../../../../shared/contract/openapi/openapi-webhooks.ts";
import { aCatalog, aPlan } from "../../../builders/upstream/catalog.ts";

const AT = "2026-11-21T12:00:00.000Z";
const data = (before: Catalog, after: Catalog) => {
  const change = changeBetween(before, after, AT);
  return change && catalogUpdated.shape.data.parse(JSON.parse(change.data));
};
const glo = { id: 3, name: "Glo", code: "glo" };

describe("a change of the catalog", () => {
  test("a change names what was added, removed and repriced, with the network and both prices", () => {
    const before = aCatalog(0, { data_plans: [aPlan(), aPlan({ id: 102, name: "2GB" })] });
    const after = aCatalog(0, {
      networks: [...before.networks, glo],
      data_plans: [aPlan({ price: 510 }), aPlan({ id: 301, network_id: 3, price: 450 })],
    });
    expect(data(before, after)).toEqual({
      at: AT,
      plans_added: [{ id: 301, network_id: 3, name: "1GB", price: 450, network: "Glo" }],
      plans_removed: [{ id: 102, network_id: 1, name: "2GB", price: 500, network: "MTN" }],
      plans_repriced: [{ id: 101, network_id: 1, name: "1GB", price: 510, network: "MTN", previous_price: 500 }],
      networks_added: [glo],
      networks_removed: [],
      counts: { plans_added: 1, plans_removed: 1, plans_repriced: 1, networks_added: 1, networks_removed: 0 },
      truncated: false,
    });
    expect(data(after, before)?.networks_removed).toEqual([glo]);
  });

  test("a network with another code is removed and added, because airtime orders name it by the code", () => {
    const renamed = { ...glo, code: "gl2" };
    expect(data(aCatalog(0, { networks: [glo] }), aCatalog(0, { networks: [renamed] }))).toMatchObject({
      networks_added: [renamed],
      networks_removed: [glo],
    });
  });

  test("a network whose code became another name of it is no change, because orders may have either", () => {
    const catalog = aCatalog(0, { networks: [glo] });
    expect(changeBetween(catalog, { ...catalog, networks: [{ ...glo, code: "globacom" }] }, AT)).toBeUndefined();
  });

  test.each([
    ["the same catalog", aCatalog(4)],
    ["another order", aCatalog(0, { data_plans: aCatalog(4).data_plans.toReversed() })],
    ["other names", aCatalog(0, { data_plans: aCatalog(4).data_plans.map((plan) => ({ ...plan, name: "Other" })) })],
  ])("%s is no change", (_what, after) => {
    expect(changeBetween(aCatalog(4), after, AT)).toBeUndefined();
  });

  test("the lists of a large change are cut at 6,000 bytes together, and its counts are complete", () => {
    const after = aCatalog(2_000);
    const change = changeBetween(aCatalog(4), after, AT);
    expect(Buffer.byteLength(change?.data ?? "")).toBeLessThan(6_400);
    const { plans_added = [], counts, truncated } = data(aCatalog(4), after) ?? {};
    expect(truncated).toBe(true);
    expect(counts?.plans_added).toBe(1_996);
    expect(plans_added.length).toBeGreaterThan(40);
    expect(plans_added).toEqual(
      after.data_plans.slice(4, 4 + plans_added.length).map(({ validity: _validity, ...plan }) => ({
        ...plan,
        network: "MTN",
      })),
    );
  });

  test.each([
    ["removed", [aPlan({ id: 900 })], "plans_removed"],
    [
      "repriced",
      [aPlan({ id: 900 }), ...aCatalog(200).data_plans.map((plan) => ({ ...plan, price: 1 }))],
      "plans_repriced",
    ],
  ] as const)(
    "a cut change has %s plans before added ones, because what sells them fails or loses",
    (_what, after, first) => {
      const change = data(aCatalog(200), aCatalog(0, { data_plans: [...after] }));
      expect(change?.[first].length).toBeGreaterThan(30);
      expect(change?.plans_added).toEqual([]);
    },
  );
});
