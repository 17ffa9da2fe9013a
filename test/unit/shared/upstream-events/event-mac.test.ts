import { describe, expect, test } from "vitest";
import { koboFromNaira } from "../../../../shared/contract/values/money.ts";
import type { KeyedHashes } from "../../../../shared/platform/keyed-hashes.ts";
import { eventMac, hasValidMac, type UnsignedEvent } from "../../../../shared/upstream-events/event-mac.ts";
import { keyedHashes } from "../../../builders/ledger/secrets.ts";

const event: UnsignedEvent = {
  kind: "event",
  mode: "live",
  received_at: "2026-11-21T12:00:00.000Z",
  reference: "U1",
  status: "failed",
  amount_kobo: koboFromNaira(500),
  type: "data",
  phone: { key: "h".repeat(43), masked: "0803****567" },
};

describe("hasValidMac", () => {
  test("an event with its own MAC is authenticated", async () => {
    const hashes = await keyedHashes();
    expect(hasValidMac(hashes, { ...event, mac: eventMac(hashes, event) })).toBe(true);
  });

  test("an event whose MAC was made with the version of the key before is authenticated", async () => {
    const hashes = await keyedHashes();
    const messageMacs: KeyedHashes["messageMacs"] = (fields) => ["n".repeat(43), ...hashes.messageMacs(fields)];
    expect(hasValidMac({ ...hashes, messageMacs }, { ...event, mac: eventMac(hashes, event) })).toBe(true);
  });

  test.each<readonly [string, Partial<UnsignedEvent>]>([
    ["time", { received_at: "2026-11-21T12:00:00.001Z" }],
    ["reference", { reference: "U2" }],
    ["status", { status: "success" }],
    ["amount", { amount_kobo: koboFromNaira(500.01) }],
    ["type", { type: "airtime" }],
    ["phone number", { phone: { key: "i".repeat(43), masked: "0803****567" } }],
    ["masked phone number", { phone: { key: "h".repeat(43), masked: "0803****568" } }],
  ])("an event whose %s was changed after its MAC is not authenticated", async (_field, changes) => {
    const hashes = await keyedHashes();
    expect(hasValidMac(hashes, { ...event, ...changes, mac: eventMac(hashes, event) })).toBe(false);
  });

  test.each(["amount_kobo", "type", "phone"] as const)(
    "an event that lost its %s after its MAC is not authenticated",
    async (name) => {
      const hashes = await keyedHashes();
      const { [name]: _lost, ...others } = event;
      expect(hasValidMac(hashes, { ...others, mac: eventMac(hashes, event) })).toBe(false);
    },
  );

  test.each([undefined, "", "short", "x".repeat(43)])("an event with the MAC %j is not authenticated", async (mac) => {
    expect(hasValidMac(await keyedHashes(), { ...event, ...(mac !== undefined && { mac }) })).toBe(false);
  });
});
