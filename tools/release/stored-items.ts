import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";
import * as z from "#zod";
import { outcomeMessage } from "../../shared/orders/outcome-message.ts";
import { deliveryMessage } from "../../shared/webhooks/delivery-queue.ts";
import { storedItems } from "../docs/data-map.ts";
import { derivedValues } from "./derived-values.ts";
import { examplesOf } from "./examples.ts";
import { addSchema } from "./json-schema-surface.ts";
import { finished, newDraft, type Surface } from "./surface-schema.ts";

const record = z.record(z.string(), z.unknown());
const attributes = z.record(z.string(), z.custom<AttributeValue>());

/**
 * The golden file of a release: items of each kind in DynamoDB's JSON, messages of each queue, and derived values. Beside
 * them it has what the release reads of what is stored (read-first.ts).
 */
const goldenSchema = z.object({
  items: z.record(z.string(), z.array(attributes)),
  messages: z.record(z.string(), z.array(z.unknown())),
  derived: z.record(z.string(), z.string()),
});

const queues: Readonly<Record<string, z.ZodMiniType>> = { outcomes: outcomeMessage, deliveries: deliveryMessage };

/** The schemas of everything that is stored, as JSON schemas: of each kind by its table, and of each queue. */
export const storedSchemas = (): ReadonlyMap<string, unknown> => {
  const asJson = (schema: z.ZodMiniType) =>
    z.toJSONSchema(schema, { io: "input", unrepresentable: "any", reused: "inline" });
  return new Map([
    ...storedItems.map(({ table, kind, shape }) => [`${table}: ${kind}`, asJson(shape)] as const),
    ...Object.entries(queues).map(([queue, schema]) => [queue, asJson(schema)] as const),
  ]);
};

/** What this tree reads of what is stored: the types and values that a field may have, and the fields that must be there. */
export const readByThisTree = (): Surface => {
  const draft = newDraft();
  const resolve = (ref: string): never => {
    throw new Error(`${ref}: a schema of zod is written out`);
  };
  for (const [name, schema] of storedSchemas()) addSchema({ draft, direction: "sent", resolve }, name, schema);
  const { offers, demands } = finished(draft);
  // The pattern of a time is another text in another version of zod.
  return {
    offers,
    demands: Object.fromEntries(Object.entries(demands).filter(([key]) => !/ :: (pattern|format)$/.test(key))),
  };
};

/** Attributes whose names are made from what they count. */
const COUNTERS = ["airtime|MTN|success|count", "vtu:29412345"];

/** Examples of everything that this tree stores, as the text of a golden file. */
export const writeGolden = async (): Promise<string> => {
  const items = storedItems.map(({ table, kind, pkOf, shape, counters }) => {
    const counted = COUNTERS.filter((name) => counters?.test(name)).map((name) => [name, 3]);
    const found = examplesOf(shape, kind).map((example, index) => {
      const { pk, ...fields } = record.parse(example);
      // The shape of a kind with one item may name its key.
      const ownPk = String(pk).startsWith(kind) ? pk : pkOf(`example-${index + 1}`);
      return marshall({ pk: ownPk, ...fields, ...Object.fromEntries(counted) }, { removeUndefinedValues: true });
    });
    return [`${table}: ${kind}`, found];
  });
  const messages = Object.entries(queues).map(([queue, schema]) => [queue, examplesOf(schema, queue)]);
  const golden = {
    items: Object.fromEntries(items),
    messages: Object.fromEntries(messages),
    derived: await derivedValues(),
    reads: readByThisTree(),
  };
  const asBase64 = (_key: string, value: unknown): unknown =>
    value instanceof Uint8Array ? Buffer.from(value).toString("base64") : value;
  return `${JSON.stringify(golden, asBase64, 1)}\n`;
};

/** Bytes are Base64 in the file: `{"B": "..."}` and `{"BS": ["..."]}`. */
const asBytes = (key: string, value: unknown): unknown => {
  if (key === "B" && typeof value === "string") return new Uint8Array(Buffer.from(value, "base64"));
  return key === "BS"
    ? z
        .array(z.string())
        .parse(value)
        .map((text) => asBytes("B", text))
    : value;
};

/** The fields of a stored value, at any depth, that the parsed value no longer has. */
const lostFields = (stored: unknown, parsed: unknown, path: string): readonly string[] => {
  if (Array.isArray(stored))
    return stored.flatMap((item, index) =>
      lostFields(item, Array.isArray(parsed) ? parsed[index] : undefined, `${path}[]`),
    );
  const { success, data } = record.safeParse(stored);
  if (!success || stored instanceof Uint8Array || stored instanceof Set) return [];
  const read = z.catch(record, {}).parse(parsed);
  return Object.entries(data).flatMap(([name, value]) =>
    Object.hasOwn(read, name) ? lostFields(value, read[name], `${path}.${name}`) : [`${path}.${name} is not read`],
  );
};

const problemsOf = (schema: z.ZodMiniType, value: unknown, path: string): readonly string[] => {
  const { data, error } = schema.safeParse(value);
  return error === undefined ? lostFields(value, data, path) : [`${path}: ${z.prettifyError(error)}`];
};

/** What of a golden file this tree cannot read, reads without a field that it has, or computes otherwise. */
export const unreadable = async (text: string): Promise<readonly string[]> => {
  const { items, messages, derived } = goldenSchema.parse(JSON.parse(text, asBytes));
  const ofItems = Object.entries(items).flatMap(([name, found]) => {
    const kind = storedItems.find((each) => `${each.table}: ${each.kind}` === name);
    if (kind === undefined) return [`${name}: no code reads this kind`];
    const { shape, counters } = kind;
    return found.flatMap((item) => {
      const named = Object.entries(unmarshall(item)).filter(([attribute]) => counters?.test(attribute) !== true);
      return problemsOf(shape, Object.fromEntries(named), name);
    });
  });
  const ofMessages = Object.entries(messages).flatMap(([queue, found]) => {
    const schema = queues[queue];
    return schema === undefined
      ? [`${queue}: no code reads this queue`]
      : found.flatMap((each) => problemsOf(schema, each, queue));
  });
  const computed = await derivedValues();
  const ofDerived = Object.keys(derived)
    .filter((name) => computed[name] !== derived[name])
    .map((name) => `${name}: another value is computed`);
  return [...new Set([...ofItems, ...ofMessages, ...ofDerived])];
};
