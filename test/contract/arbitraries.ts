import fc from "fast-check";
import * as z from "#zod";
import type { ContractDocument, DocumentedOperation, Json } from "./document.ts";

/** A request that an app could send. */
export type FuzzedRequest = {
  /** Undefined for a request without a route. */
  readonly operation: string | undefined;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly mode: "live" | "test" | "none" | "wrong";
};

/** Valid and invalid requests made from the document, and a few without a route. */
export const requestsFrom = (document: ContractDocument): fc.Arbitrary<FuzzedRequest> =>
  fc.oneof(
    ...document.operations.map((operation) => ({
      weight: operation.isPublic ? 1 : 4,
      arbitrary: requestTo(operation, fittingIn(document)),
    })),
    { weight: 2, arbitrary: strayRequest },
  );

type Fitting = (schema: Json) => fc.Arbitrary<unknown>;

/** A value that fits a schema of the document. */
const fittingIn = (document: ContractDocument): Fitting => {
  const fitting: Fitting = (schema) => {
    const { type, enum: options, not, pattern, format, examples = [], properties, required } = document.follow(schema);
    if (Array.isArray(options)) return fc.constantFrom(...options);
    if (format === "date-time") return moment.map((date) => date.toISOString());
    if (typeof pattern === "string") return fittingText(new RegExp(pattern));
    if (type === "integer") return mostly([1, 101], fc.integer({ min: 1 }));
    if (type === "number") return mostly([50, 99.99, 500, 50_000], fc.double({ min: 50, noNaN: true }));
    if (type === "boolean") return not === undefined ? fc.boolean() : fc.constant(true);
    if (type === "string") {
      const likely = [...z.array(z.string()).parse(examples), "mtn", "Airtel", " GLO ", "t2"];
      return mostly(likely, fc.string({ maxLength: 100 }));
    }
    if (type === "object") {
      const parts = Object.entries(json.parse(properties));
      return fc.record(Object.fromEntries(parts.map(([name, one]) => [name, fitting(json.parse(one))])), {
        requiredKeys: z.array(z.string()).parse(required ?? []),
      });
    }
    throw new Error(`Nothing fits ${JSON.stringify(schema)}`);
  };
  return fitting;
};

/** Mostly values that the service knows, which a schema does not list. */
const mostly = <Value>(likely: readonly Value[], any: fc.Arbitrary<Value>): fc.Arbitrary<Value> =>
  fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...likely) }, any);

/** Text that matches the pattern, mostly references that occur again and the sandbox's magic numbers. */
const fittingText = (pattern: RegExp): fc.Arbitrary<string> => {
  const known = magicTexts.filter((text) => pattern.test(text));
  const any = fc.stringMatching(pattern);
  return known.length === 0 ? any : mostly(known, any);
};
const magicTexts = [
  ...["fuzz-1", "fuzz-2", "fuzz-3", "fuzz-4"],
  ...Array.from({ length: 9 }, (_, digit) => [`0800000000${digit}`, `0000000000${digit}`]).flat(),
];
const json = z.record(z.string(), z.unknown());
const moment = fc.date({ noInvalidDate: true, min: new Date("0000-01-01"), max: new Date("9999-12-31T23:59:59Z") });

/** An object with a field removed, changed or added. */
const spoilt = (body: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc
    .tuple(
      body,
      fc.array(fc.tuple(fc.nat(), fc.oneof(fc.constant(undefined), odd)), { minLength: 1, maxLength: 3 }),
      odd,
    )
    .map(([value, changes, extra]) => {
      const fields = Object.entries(json.parse(value));
      const changed = changes.map(([position, other]) => [fields[position % fields.length]?.[0] ?? "extra", other]);
      return { ...Object.fromEntries(fields), ...Object.fromEntries(changed), __extra: extra };
    });

/** Values that programs send by mistake. */
const odd: fc.Arbitrary<unknown> = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom(
    "",
    " ",
    "0",
    "null",
    "08031234567\n",
    "٠٨٠٣١٢٣٤٥٦٧",
    "NaN",
    -1,
    0,
    1e308,
    49.99,
    101.5,
    true,
    [],
    {},
  ),
  fc.string({ unit: "binary" }),
);

const bodyOf = ({ body }: DocumentedOperation, fitting: Fitting): fc.Arbitrary<string | undefined> => {
  if (body === undefined) return fc.constant(undefined);
  const valid = fitting(body.schema);
  return fc.oneof(
    { weight: 10, arbitrary: valid.map((value) => JSON.stringify(value)) },
    { weight: 6, arbitrary: spoilt(valid).map((value) => JSON.stringify(value)) },
    { weight: 1, arbitrary: fc.json() },
    { weight: 1, arbitrary: fc.string({ unit: "binary" }) },
    {
      weight: 1,
      arbitrary: fc.constantFrom("", "{", "[]", '{"a":', "[".repeat(5_000), `{"a":"${"x".repeat(20_000)}"}`),
    },
  );
};

const parameterText = (schema: Json, fitting: Fitting): fc.Arbitrary<string> =>
  fc.oneof({ weight: 2, arbitrary: fitting(schema).map(textOf) }, fc.string({ unit: "binary" }), odd.map(textOf));

/** An object may have a `toString` that is not a function. */
const textOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

const requestTo = (operation: DocumentedOperation, fitting: Fitting): fc.Arbitrary<FuzzedRequest> => {
  const given = (place: string) => operation.parameters.filter((parameter) => parameter.in === place);
  const values = (place: string, requiredKeys: string[]) =>
    fc.record(Object.fromEntries(given(place).map(({ name, schema }) => [name, parameterText(schema, fitting)])), {
      requiredKeys,
    });
  const pathNames = given("path").map(({ name }) => name);
  return fc
    .record({
      inPath: values("path", pathNames),
      inQuery: fc.oneof(values("query", []), fc.dictionary(fc.string(), fc.string(), { maxKeys: 3 })),
      // Mostly none, because an Idempotency-Key usually contradicts the reference.
      inHeader: fc.oneof({ weight: 4, arbitrary: fc.constant({}) }, values("header", [])),
      odd: oddHeaders,
      body: bodyOf(operation, fitting),
      mode: someMode,
    })
    .map(({ inPath, inQuery, inHeader, odd, body, mode }) => ({
      operation: operation.id,
      method: operation.method,
      path: pathTo(operation.path, inPath, inQuery),
      headers: { ...odd, ...sendable(inHeader) },
      body,
      mode,
    }));
};

const pathTo = (template: string, inPath: Record<string, string>, inQuery: Record<string, string>): string => {
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => encoded(inPath[name] ?? "") || "none");
  const query = Object.entries(inQuery).map(([name, value]) => `${encoded(name)}=${encoded(value)}`);
  return query.length > 0 ? `${path}?${query.join("&")}` : path;
};

/** Half a surrogate pair cannot be sent in a URL. */
const encoded = (text: string): string => encodeURIComponent(text.toWellFormed());
/** Removes characters that cannot be sent in a header. */
const sendable = (values: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value.replace(/[^\x21-\x7e]/g, "")]));

const someMode: fc.Arbitrary<FuzzedRequest["mode"]> = fc.oneof(
  { weight: 5, arbitrary: fc.constant("live" as const) },
  { weight: 5, arbitrary: fc.constant("test" as const) },
  fc.constant("none" as const),
  fc.constant("wrong" as const),
);

const oddHeaders: fc.Arbitrary<Record<string, string>> = fc.oneof(
  { weight: 4, arbitrary: fc.constant({}) },
  fc.constantFrom<Record<string, string>>(
    { "content-type": "text/plain" },
    { "content-type": "application/octet-stream" },
    { "accept-encoding": "gzip;q=x, *;q=0" },
    { "x-forwarded-for": "203.0.113.7" },
    { "x-api-key": "test_other" },
  ),
);

/** A request without a route. */
const strayRequest: fc.Arbitrary<FuzzedRequest> = fc
  .record({
    method: fc.constantFrom("GET", "POST", "PUT", "DELETE", "PATCH"),
    path: fc.array(fc.string().map(encoded), { maxLength: 4 }).map((parts) => `/${parts.join("/")}`),
    mode: someMode,
  })
  .map(({ method, path, mode }) => ({
    operation: undefined,
    method,
    path,
    headers: {},
    body: method === "GET" ? undefined : "{}",
    mode,
  }));
