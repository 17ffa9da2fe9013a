import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { builtInSnapshot } from "../../../../shared/catalog/built-in-catalog.ts";
import { catalogMemory } from "../../../../shared/catalog/catalog-memory.ts";
import { listCatalog } from "../../../../shared/catalog/list-catalog.ts";
import { type Snapshot, snapshotOf } from "../../../../shared/catalog/snapshot.ts";
import { successEnvelope } from "../../../../shared/contract/envelope.ts";
import { ServiceError } from "../../../../shared/contract/errors.ts";
import { ALL_ENTITLEMENTS } from "../../../../shared/contract/permission.ts";
import { routes } from "../../../../shared/contract/routes.ts";
import type { Mode } from "../../../../shared/contract/transaction.ts";
import { apiEvent, callRequest } from "../../../../shared/lambda/api-request.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import type { PriceRule } from "../../../../shared/prices/price-rule.ts";
import { anApiEvent } from "../../../builders/aws/api-event.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";
import { aCatalog } from "../../../builders/upstream/catalog.ts";
import { NO_PRICE_RULES } from "../../../builders/upstream/upstream-costs.ts";

const snapshot = snapshotOf(aCatalog(), NOON_MS);
const WEAK = snapshot.etag;
const STRONG = WEAK.replace("W/", "");

type Ask = { readonly headers?: Readonly<Record<string, string>>; readonly mode?: Mode; readonly nowMs?: number };

const aCaller = (mode: Mode) => ({ accountId: "acc_1", keyId: "key_1", mode, entitlements: ALL_ENTITLEMENTS });
const aRequest = (headers: Readonly<Record<string, string>>) => callRequest(apiEvent.parse(anApiEvent({ headers })));

/** A request for a catalog that was fetched at noon, or never if undefined. */
const list = (kept: Snapshot | undefined, { headers = {}, mode = "live", nowMs = NOON_MS }: Ask = {}) => {
  const memory = catalogMemory({ read: async () => kept }, () => nowMs);
  return listCatalog(memory, NO_PRICE_RULES, () => nowMs)({ caller: aCaller(mode), request: aRequest(headers) });
};

/** An app's cache never answers a request with one key by the prices of another's account. */
const VARY = "accept-encoding, authorization, x-api-key";

test("the response is the success envelope with the catalog, its tag and a private hour of caching", async () => {
  const { statusCode, headers, body, isBase64Encoded } = await list(snapshot);
  expect([statusCode, isBase64Encoded ?? false]).toEqual([200, false]);
  expect(successEnvelope(routes.listCatalog.data).parse(JSON.parse(body ?? "")).data).toEqual(aCatalog());
  expect(headers).toEqual({
    etag: WEAK,
    "cache-control": "private, max-age=3600",
    vary: VARY,
    age: "0",
    "content-type": "application/json; charset=utf-8",
  });
});

test("an account with price rules gets the prices of its rules at each moment, and no copy stays fresh beyond the next change", async () => {
  const rule = { id: "pr_1", kind: "data", plan_id: 101, change: { by: "percent", percent: -10 } } as const;
  const soon: readonly PriceRule[] = [{ ...rule, from: isoTime(NOON_MS + 2_000) }];
  const now: readonly PriceRule[] = [{ ...rule, from: isoTime(NOON_MS) }];
  let [nowMs, rules] = [NOON_MS, soon];
  const clock = () => nowMs;
  const ask = listCatalog(catalogMemory({ read: async () => snapshot }, clock), async () => rules, clock);
  const shown = async (afterMs: number, of: readonly PriceRule[]) => {
    [nowMs, rules] = [NOON_MS + afterMs, of];
    const { body, headers } = await ask({ caller: aCaller("live"), request: aRequest({}) });
    const { data_plans } = successEnvelope(routes.listCatalog.data).parse(JSON.parse(body ?? "")).data;
    return [data_plans.find(({ id }) => id === 101)?.price, headers["cache-control"]];
  };
  const [before, after] = [
    [500, "private, max-age=2"],
    [450, "private, max-age=3600"],
  ];
  expect(await shown(0, soon)).toEqual(before);
  expect(await shown(2_000, soon)).toEqual(after);
  expect(await shown(0, soon)).toEqual(before);
  expect(await shown(0, now)).toEqual(after);
});

test.for([
  ["the tag itself", WEAK],
  ["the same tag without its W/", STRONG],
  ["the tag as the second of 3", `"a", ${WEAK}, "b"`],
  ["the tag in a list without blanks", `"a",${STRONG}`],
  ["a star", "*"],
  ["blanks around the tag", `  ${WEAK} `],
] as const)("a request with If-None-Match %s is 304 without a body, with the tag and the caching", async ([, tags]) => {
  const answer = await list(snapshot, { headers: { "if-none-match": tags, "accept-encoding": "gzip" } });
  expect(answer.statusCode).toBe(304);
  expect(answer.body).toBeUndefined();
  expect(answer.headers).toEqual({
    etag: WEAK,
    "cache-control": "private, max-age=3600",
    vary: VARY,
    age: "0",
  });
});

test.for([
  ["another tag", '"a"'],
  ["the tag without its quotes", STRONG.replaceAll('"', "")],
  ["a part of the tag", STRONG.replace(/.{3}"$/, '"')],
  ["the tag in another case", STRONG.toLowerCase() === STRONG ? STRONG.toUpperCase() : STRONG.toLowerCase()],
  ["nothing", ""],
] as const)("a request with If-None-Match %s is 200 with the body", async ([, tags]) => {
  const answer = await list(snapshot, { headers: { "if-none-match": tags } });
  expect(answer.statusCode).toBe(200);
  expect(answer.body?.length).toBeGreaterThan(100);
});

test.for(["gzip", "GZIP", "gzip, deflate, br", "br;q=1.0, gzip;q=0.8, *;q=0.1", "deflate,gzip", "*", "gzip;q=0.001"])(
  "a request with Accept-Encoding %s gets gzip: the stored bytes, in base64",
  async (accepted) => {
    const { headers, body, isBase64Encoded } = await list(snapshot, { headers: { "accept-encoding": accepted } });
    expect([isBase64Encoded, headers["content-encoding"], headers.vary]).toEqual([true, "gzip", VARY]);
    const bytes = Buffer.from(body ?? "", "base64");
    expect(bytes.equals(snapshot.gzip)).toBe(true);
    expect(JSON.parse(gunzipSync(bytes).toString("utf8"))).toMatchObject({ status: true, data: aCatalog() });
  },
);

test.for([
  "",
  "identity",
  "br, deflate",
  "gzip;q=0",
  "gzip; q=0",
  "gzip;q=0.0",
  "gzip;q=0.000, identity",
  "gzip;q=0, *;q=1",
  "*;q=0",
  "gzipped",
])("a request with Accept-Encoding %j gets the plain text", async (accepted) => {
  const { headers, body, isBase64Encoded } = await list(snapshot, { headers: { "accept-encoding": accepted } });
  expect([isBase64Encoded ?? false, headers["content-encoding"]]).toEqual([false, undefined]);
  expect(JSON.parse(body ?? "")).toMatchObject({ data: aCatalog() });
  expect(headers.vary).toBe(VARY);
});

test.for([
  [0, "0"],
  [999, "0"],
  [1_000, "1"],
  [90_000_000, "90000"],
  [-5_000, "0"],
] as const)("Age after %i ms is %s s; a stale catalog is served", async ([afterMs, age]) => {
  const { statusCode, headers } = await list(snapshot, { nowMs: NOON_MS + afterMs });
  expect([statusCode, headers.age]).toEqual([200, age]);
});

describe("a catalog that was never fetched", () => {
  test("before the first refresh a live key gets 503 provider_unavailable with Retry-After 60", async () => {
    const refusal = await list(undefined).catch((error: unknown) => error);
    if (!(refusal instanceof ServiceError)) expect.unreachable();
    expect([refusal.code, refusal.details.retryAfterS]).toEqual(["provider_unavailable", 60]);
  });

  test("before the first refresh a test key gets the built-in catalog without an Age, and 304 for its tag", async () => {
    const answer = await list(undefined, { mode: "test" });
    expect(answer.statusCode).toBe(200);
    expect(answer.headers.etag).toBe(builtInSnapshot.etag);
    expect(answer.headers.age).toBeUndefined();
    const again = await list(undefined, { mode: "test", headers: { "if-none-match": builtInSnapshot.etag } });
    expect(again.statusCode).toBe(304);
  });
});

test("after the first refresh a test key gets the same catalog as a live key", async () => {
  const [live, probe] = [await list(snapshot), await list(snapshot, { mode: "test" })];
  expect(probe).toEqual(live);
});
