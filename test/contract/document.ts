import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import * as z from "#zod";

/** Reads an OpenAPI document from its JSON and follows its references. */

const json = z.record(z.string(), z.unknown());
export type Json = z.infer<typeof json>;

const referable = <Part extends z.ZodMiniType>(part: Part) => z.union([z.object({ $ref: z.string() }), part]);
const example = z.object({ value: z.unknown() });
const media = z.object({
  schema: json,
  example: z.optional(z.unknown()),
  examples: z._default(z.record(z.string(), referable(example)), {}),
});
const header = z.object({ description: z.string(), required: z._default(z.boolean(), false), schema: json });
const response = z.object({
  description: z.string().check(z.minLength(1)),
  headers: z._default(z.record(z.string(), referable(header)), {}),
  content: z._default(z.record(z.string(), media), {}),
});
const parameter = z.object({
  name: z.string(),
  in: z.enum(["path", "query", "header"]),
  required: z._default(z.boolean(), false),
  schema: json,
  example: z.optional(z.string()),
});
const operation = z.object({
  operationId: z.string(),
  summary: z.string().check(z.minLength(1)),
  tags: z.array(z.string()).check(z.minLength(1)),
  security: z.optional(z.array(json)),
  parameters: z._default(z.array(referable(parameter)), []),
  requestBody: z.optional(z.object({ required: z.literal(true), content: z.object({ "application/json": media }) })),
  responses: z.record(z.string(), referable(response)),
});
const documentShape = z.object({
  openapi: z.string(),
  servers: z.array(z.object({ url: z.string() })),
  security: z.array(json),
  paths: z.record(z.string(), z.record(z.string(), operation)),
  webhooks: z.record(z.string(), z.record(z.string(), operation)),
  components: z.record(z.string(), z.record(z.string(), json)),
});

type DocumentedHeader = z.output<typeof header>;
type DocumentedResponse = {
  readonly description: string;
  /** By lower-case name. */
  readonly headers: ReadonlyMap<string, DocumentedHeader>;
  readonly mediaType: string | undefined;
  readonly schema: Json | undefined;
  /** The examples by name; a single one has the name `example`. */
  readonly examples: ReadonlyMap<string, unknown>;
};
export type DocumentedOperation = {
  readonly id: string;
  readonly method: string;
  /** Relative to the server URL. */
  readonly path: string;
  readonly tags: readonly string[];
  readonly isPublic: boolean;
  readonly parameters: readonly z.output<typeof parameter>[];
  readonly body: { readonly schema: Json; readonly example: Json } | undefined;
  readonly responses: ReadonlyMap<number, DocumentedResponse>;
};
/** Describes how a value breaks a schema; undefined if it is valid. */
type Validate = (value: unknown) => string | undefined;

export type ContractDocument = {
  readonly operations: readonly DocumentedOperation[];
  readonly webhooks: readonly DocumentedOperation[];
  readonly operation: (id: string) => DocumentedOperation;
  readonly validate: (schema: Json) => Validate;
  readonly follow: (schema: Json) => Json;
};

/** With `closed`, undocumented fields are invalid unless a schema allows them. */
export const readDocument = (raw: unknown, { closed = false } = {}): ContractDocument => {
  const document = documentShape.parse(raw);
  const follow = (part: unknown): unknown => {
    const { $ref } = z.object({ $ref: z.optional(z.string()) }).parse(part);
    if ($ref === undefined) return part;
    const [, , kind = "", name = ""] = $ref.split("/");
    const target = document.components[kind]?.[name];
    if (target === undefined) throw new Error(`${$ref} is not in the document`);
    return target;
  };

  const readResponse = (part: unknown): DocumentedResponse => {
    const { description, headers, content } = response.parse(follow(part));
    const [mediaType] = Object.keys(content);
    const body = mediaType === undefined ? undefined : content[mediaType];
    const single = body?.example === undefined ? [] : [["example", body.example] as const];
    const named = Object.entries(body?.examples ?? {}).map(
      ([name, part]) => [name, example.parse(follow(part)).value] as const,
    );
    return {
      description,
      headers: new Map(Object.entries(headers).map(([name, part]) => [name.toLowerCase(), header.parse(follow(part))])),
      mediaType,
      schema: body?.schema,
      examples: new Map([...single, ...named]),
    };
  };

  const readOperations = (paths: z.output<typeof documentShape>["paths"]): DocumentedOperation[] =>
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId, parameters, requestBody, responses, security, tags }]) => {
        const body = requestBody?.content["application/json"];
        return {
          id: operationId,
          method: method.toUpperCase(),
          path,
          tags,
          isPublic: security?.length === 0,
          parameters: parameters.map((part) => parameter.parse(follow(part))),
          body: body && { schema: body.schema, example: json.parse(body.example) },
          responses: new Map(Object.entries(responses).map(([status, part]) => [Number(status), readResponse(part)])),
        };
      }),
    );

  const operations = readOperations(document.paths);
  const schemas = z.record(z.string(), json).parse(document.components.schemas);
  const validator = createValidator(closed ? z.record(z.string(), json).parse(closedSchema(schemas)) : schemas);
  return {
    operations,
    webhooks: readOperations(document.webhooks),
    operation: (id) => {
      const found = operations.find((operation) => operation.id === id);
      if (found === undefined) throw new Error(`There is no operation ${id}`);
      return found;
    },
    validate: memoize((schema) => validator(json.parse(closed ? closedSchema(schema) : schema))),
    follow: (schema) => json.parse(follow(schema)),
  };
};

/** Compiles each schema once. */
const memoize = (make: (schema: Json) => Validate): ((schema: Json) => Validate) => {
  const made = new WeakMap<Json, Validate>();
  return (schema) => {
    const validator = made.get(schema) ?? make(schema);
    made.set(schema, validator);
    return validator;
  };
};

const ROOT = "openapi.json";

const createValidator = (schemas: Readonly<Record<string, Json>>): ((schema: Json) => Validate) => {
  const ajv = new Ajv2020({ strict: true, allErrors: true, allowUnionTypes: true });
  addFormats.default(ajv);
  ajv.addVocabulary(["components"]);
  ajv.addSchema({ $id: ROOT, components: { schemas } });
  return (schema) => {
    const validate = ajv.compile(z.record(z.string(), z.unknown()).parse(absolute(schema)));
    return (value) => (validate(value) ? undefined : ajv.errorsText(validate.errors));
  };
};

/** Makes local references absolute. */
const absolute = (schema: Json): unknown =>
  JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/', `"$ref":"${ROOT}#/`));

/** Closes every object whose schema does not say whether it is open. */
const closedSchema = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(closedSchema);
  if (typeof schema !== "object" || schema === null) return schema;
  const inner: Json = Object.fromEntries(Object.entries(schema).map(([name, part]) => [name, closedSchema(part)]));
  return inner.type === "object" && "properties" in inner && !("additionalProperties" in inner)
    ? { ...inner, additionalProperties: false }
    : inner;
};
