import { expect, test } from "vitest";
import * as z from "#zod";
import { type ActionName, actions } from "../../../../../shared/contract/actions/actions.ts";
import { actionTexts } from "../../../../../tools/admin/views/action-texts.ts";

const jsonSchema = z.object({
  items: z.optional(z.object({ type: z.optional(z.unknown()) })),
  anyOf: z._default(z.array(z.unknown()), []),
  properties: z._default(z.record(z.string(), z.unknown()), {}),
});

/** Whether a field of the output, or of a record in it, is a list of records, which no line can show. */
const hasListOfRecords = (schema: unknown): boolean => {
  const { items, anyOf, properties } = jsonSchema.parse(schema);
  return items?.type === "object" || [...anyOf, ...Object.values(properties)].some(hasListOfRecords);
};

const names = Object.keys(actions).filter((name): name is ActionName => name in actions);

test.for(names)("the command %s shows a list of records as a table, or has a text of its own", (name) => {
  const { command, output } = actions[name];
  const isShown = typeof command === "string" || "table" in command || name in actionTexts;
  expect(isShown || !hasListOfRecords(z.toJSONSchema(output, { io: "input", unrepresentable: "any" }))).toBe(true);
});

test("an entitlement without a quota is its name alone, as the command takes it", () => {
  const output = { account_id: "acc_1", entitlements: { vtu: null, identity: 20 } };
  expect(actionTexts["accounts entitle"]?.(output, "Africa/Lagos")).toMatch(/entitlements +vtu identity=20$/);
});

test("the deliveries of one event to two endpoints differ in their lists, of which one has no attempt yet", () => {
  const delivery = {
    ...{ reference: "DATA_1", event: "transaction.updated", webhook_id: "evt_1", status: "success" as const },
    ...{ state: "pending" as const, parked: false, repeat: null, created_at: "2026-11-28T17:40:49.701Z" },
    ...{ next_attempt_at: null, body: "{}" },
  };
  const exchange = { request_headers: {}, response_headers: null, response_body: null };
  const attempts = [{ number: 1, at: "2026-11-28T17:40:49.704Z", outcome: "delivered", duration_ms: 24, ...exchange }];
  const deliveries = [
    { ...delivery, endpoint: "1", attempts: [] },
    { ...delivery, endpoint: "2", attempts },
  ];
  const shown = {
    list: actionTexts["deliveries list"]?.({ deliveries }, "Africa/Lagos"),
    show: actionTexts["deliveries show"]?.({ reference: "DATA_1", deliveries }, "Africa/Lagos"),
  };
  expect(shown.list).toMatch(/^DATA_1 +1 .*\nDATA_1 +2 /m);
  expect(shown.show).toMatch(/^evt_1 +1 .*\nevt_1 +2 /m);
});

test("an account without a window for duplicates is said to have none", () => {
  expect(actionTexts["accounts duplicates"]?.({ account_id: "acc_1" }, "Africa/Lagos")).toMatch(/window_s +none$/);
});
