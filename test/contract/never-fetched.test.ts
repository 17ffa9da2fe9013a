import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { errorEnvelope } from "../../shared/contract/envelope.ts";
import { openApiDocument } from "../../shared/contract/openapi.ts";
import { type RunningService, startService } from "../../tools/local/service.ts";
import { readDocument } from "./document.ts";
import { send } from "./exchange.ts";

/** provider_unavailable of the catalog needs a service whose upstream never responded. */
const document = readDocument(JSON.parse(JSON.stringify(openApiDocument())));

let service: RunningService;
beforeAll(async () => {
  service = await startService({
    upstream: {
      baseUrl: "http://127.0.0.1:1/v1",
      liveKey: `live_${"0".repeat(40)}`,
      profile: { reference: "documented" },
    },
  });
});
afterAll(() => service.stop());

const ask = (id: string, key: string | undefined) => send(service.details.base_url, document.operation(id), { key });

describe("a catalog that was never fetched", () => {
  test.each(["listCatalog", "buyData", "buyAirtime"])(
    "while the catalog was never fetched, %s with a live key is 503 provider_unavailable with the seconds to wait, and no transaction",
    async (id) => {
      const { status, headers, text } = await ask(id, service.details.accounts[0]?.live_key);
      expect(status).toBe(503);
      expect(document.operation(id).responses.has(503)).toBe(true);
      expect(headers.get("x-error-code")).toBe("provider_unavailable");
      expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
      expect(headers.get("x-transaction-reference")).toBeNull();
      expect(errorEnvelope.safeParse(JSON.parse(text)).success).toBe(true);
    },
  );

  test.each(["listCatalog", "buyData", "buyAirtime"])(
    "while the catalog was never fetched, %s with a test key succeeds",
    async (id) => {
      expect((await ask(id, service.details.accounts[0]?.test_key)).status).toBe(200);
    },
  );
});
