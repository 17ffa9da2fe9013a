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
