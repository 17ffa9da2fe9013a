import * as z from "#zod";

/** Values of single fields. The first that a schema takes is its example: a field that takes none needs one here. */
const values: readonly unknown[] = [
  "example",
  1,
  true,
  "2026-11-26T10:00:00.000Z",
  "2026-11-26",
  "2026-11",
  "acc_0123456789abcdef01",
  "0000000001",
  "A",
  "203.0.113.7",
  "https://app.example/webhooks",
  "Africa/Lagos",
  "a".repeat(43),
  "0".repeat(64),
  "vtu:29412345",
  0,
  100,
  -1,
  new Uint8Array([1, 2, 3]),
];

const accepts = (schema: z.core.$ZodType, value: unknown): boolean => z.safeParse(schema, value).success;

const leafExamples = (schema: z.core.$ZodType, path: string): readonly unknown[] => {
  const found = values.find((value) => accepts(schema, value));
  if (found === undefined) throw new Error(`${path}: add a value that its schema takes to tools/release/examples.ts`);
  return [found];
};

/** Objects in which every example of every field occurs, and one with the required fields alone. */
const objectExamples = (schema: z.ZodMiniObject, path: string): readonly unknown[] => {
  const fields = Object.entries(schema.shape).map(([name, field]) => ({
    name,
    isOptional: accepts(field, undefined),
    examples: examplesOf(field, `${path}.${name}`),
  }));
  const number = Math.max(1, ...fields.map(({ examples }) => examples.length));
  const full = Array.from({ length: number }, (_, index) =>
    Object.fromEntries(fields.map(({ name, examples }) => [name, examples[index % examples.length]])),
  );
  const least = Object.fromEntries(
    fields.filter(({ isOptional }) => !isOptional).map(({ name, examples }) => [name, examples[0]]),
  );
  return [...full, least];
};

const recordExamples = (schema: z.ZodMiniRecord, path: string): readonly unknown[] => {
  const keys = examplesOf(schema.def.keyType, `${path} key`).map(String);
  return examplesOf(schema.def.valueType, `${path}.*`).map((value) =>
    Object.fromEntries(keys.map((key) => [key, value])),
  );
};

const alternatives = (schema: z.core.$ZodType, path: string): readonly unknown[] => {
  if (schema instanceof z.ZodMiniOptional || schema instanceof z.ZodMiniDefault || schema instanceof z.ZodMiniReadonly)
    return examplesOf(schema.def.innerType, path);
  if (schema instanceof z.ZodMiniNullable) return [...examplesOf(schema.def.innerType, path), null];
  if (schema instanceof z.ZodMiniObject) return objectExamples(schema, path);
  if (schema instanceof z.core.$ZodUnion) return schema._zod.def.options.flatMap((option) => examplesOf(option, path));
  if (schema instanceof z.ZodMiniEnum) return schema.options;
  if (schema instanceof z.ZodMiniLiteral) return schema.def.values;
  if (schema instanceof z.ZodMiniBoolean) return [true, false];
  if (schema instanceof z.ZodMiniRecord) return recordExamples(schema, path);
  if (schema instanceof z.ZodMiniPipe) return examplesOf(schema.def.in, path);
  if (schema instanceof z.ZodMiniTuple) {
    const items = schema.def.items.map((item, index) => examplesOf(item, `${path}[${index}]`));
    return [items.map(([first]) => first)];
  }
  if (schema instanceof z.ZodMiniArray) {
    const items = examplesOf(schema.def.element, `${path}[]`);
    return [items, items.slice(0, 1)];
  }
  if (schema instanceof z.ZodMiniSet) return [new Set(examplesOf(schema.def.valueType, `${path}[]`))];
  return leafExamples(schema, path);
};

/**
 * Values that a schema takes, with every option, member of an enumeration and optional field in one of them at least.
 * Throws if it takes none of those that are tried.
 */
export const examplesOf = (schema: z.core.$ZodType, path: string): readonly unknown[] => {
  const taken = alternatives(schema, path).filter((value) => accepts(schema, value));
  if (taken.length === 0) throw new Error(`${path}: no example of it is taken by its schema`);
  return taken;
};
