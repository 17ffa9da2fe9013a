import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { documentText } from "../../../../shared/call/prepared-document.ts";
import { builtInPlans, builtInSnapshot } from "../../../../shared/catalog/built-in-catalog.ts";
import { indexPlans } from "../../../../shared/catalog/plan-index.ts";
import { catalogOf, snapshotOf } from "../../../../shared/catalog/snapshot.ts";
import { usableCatalog } from "../../../../shared/catalog/usable-catalog.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";
import { aCatalog, aPlan } from "../../../builders/upstream/catalog.ts";

test("a snapshot is the whole success envelope in gzip", () => {
  const catalog = aCatalog();
  const { gzip } = snapshotOf(catalog, NOON_MS);
  const body: unknown = JSON.parse(gunzipSync(gzip).toString("utf8"));
  expect(body).toEqual({ status: true, message: expect.any(String), data: catalog });
  expect(JSON.parse(documentText(snapshotOf(catalog, NOON_MS)))).toEqual(body);
});

test("a snapshot's catalog is the one it was made of", () => {
  const catalog = aCatalog(30);
  expect(catalogOf(snapshotOf(catalog, NOON_MS))).toEqual(catalog);
});

test("a snapshot has a weak tag that depends on the catalog and not on the time", () => {
  const { etag } = snapshotOf(aCatalog(), NOON_MS);
  expect(etag).toMatch(/^W\/"[A-Za-z0-9_-]{22}"$/);
  expect(snapshotOf(aCatalog(), NOON_MS + 3_600_000).etag).toBe(etag);
  const repriced = aCatalog(4, {
    data_plans: [...aCatalog(3).data_plans, aPlan({ id: 104, name: "4GB", price: 500.01 })],
  });
  expect(repriced.data_plans).toHaveLength(4);
  expect(snapshotOf(repriced, NOON_MS).etag).not.toBe(etag);
});

test("plans and networks are found by id", () => {
  const { networks, plans } = indexPlans(aCatalog(2));
  expect([networks.get(1)?.code, plans.get(102)?.name]).toEqual(["mtn", "2GB"]);
  expect([networks.get(2), plans.get(103)]).toEqual([undefined, undefined]);
});

test("every entry of the built-in catalog is usable", () => {
  const listed = catalogOf(builtInSnapshot);
  expect(usableCatalog(listed)).toEqual({ catalog: listed, dropped: [] });
  expect(listed.data_plans.length).toBeGreaterThan(0);
  expect([...builtInPlans.plans.values()]).toEqual(listed.data_plans);
  expect([...builtInPlans.networks.values()]).toEqual(listed.networks);
});
