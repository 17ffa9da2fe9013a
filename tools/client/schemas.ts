import * as z from "#zod";

/** The type of a field, as far as both languages know it. */
export type FieldType =
  | { readonly kind: "text" | "integer" | "number" | "boolean" }
  /** One of these texts; a later release of the service can add some. */
  | { readonly kind: "values"; readonly values: readonly string[] }
  | { readonly kind: "true" }
  | { readonly kind: "named"; readonly name: string }
  | { readonly kind: "list"; readonly of: FieldType }
  | { readonly kind: "either"; readonly of: readonly FieldType[] };

/** How a language writes a type; `values` are the texts of an enumeration. */
type TypeNames = Readonly<Record<"text" | "integer" | "number" | "boolean" | "true", string>> & {
  readonly values?: (values: readonly string[]) => string;
  readonly named?: (name: string) => string;
  readonly list: (of: string) => string;
  readonly either: (of: readonly string[]) => string;
};

export const typeWriter = (names: TypeNames): ((type: FieldType) => string) => {
  const { values = () => names.text, named = (name) => name } = names;
  const write = (type: FieldType): string => {
    switch (type.kind) {
      case "values":
        return values(type.values);
      case "named":
        return named(type.name);
      case "list":
        return names.list(write(type.of));
      case "either":
        return names.either(type.of.map(write));
      default:
        return names[type.kind];
    }
  };
  return write;
};

export type Field = {
  /** As it is sent, in snake case. */
  readonly name: string;
  readonly description: string;
  readonly type: FieldType;
  readonly isNullable: boolean;
  readonly isRequired: boolean;
};

/** An object of the interface. */
export type Model = {
  readonly name: string;
  readonly fields: readonly Field[];
  /** True of what a caller sends, false of what the service answers. */
  readonly isRequest: boolean;
  /** True if the service can send fields that are not in the document. */
  readonly hasOtherFields: boolean;
};

/** A name for a text. */
export type Alias = { readonly name: string; readonly description: string; readonly type: FieldType };

const Schema = z.object({
  $ref: z.optional(z.string()),
  type: z.optional(z.union([z.string(), z.array(z.string())])),
  enum: z.optional(z.array(z.string())),
  const: z.optional(z.string()),
  /** Marks a boolean that is always true. */
  not: z.optional(z.object({ const: z.literal(false) })),
  description: z._default(z.string(), ""),
  required: z._default(z.array(z.string()), []),
  additionalProperties: z.optional(z.literal(true)),
  get properties() {
    return z.optional(z.record(z.string(), Schema));
  },
  get items() {
    return z.optional(Schema);
  },
  get anyOf() {
    return z.optional(z.array(Schema));
  },
});
type Schema = z.infer<typeof Schema>;

/** The document itself, and the errors, which the clients read by hand. */
const LEFT_OUT = new Set(["OpenApiDocument", "ErrorEnvelope"]);

const Document = z.object({
  components: z.object({ schemas: z.record(z.string(), z.unknown()) }),
  webhooks: z.record(
    z.string(),
    z.object({
      post: z.object({
        requestBody: z.object({
          content: z.object({ "application/json": z.object({ schema: z.object({ $ref: z.string() }) }) }),
        }),
      }),
    }),
  ),
});

/** The name of an event's model, by the event's name. */
export type Webhooks = ReadonlyMap<string, string>;

/** `phone_number` becomes `phoneNumber`, as client/src/field-names.ts has it at run time. */
export const camelCase = (name: string): string =>
  name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
export const pascalCase = (name: string): string => camelCase(`_${name}`);

/** The name of what a `$ref` leads to. */
export const referenced = (ref: string): string => ref.replace(/^.*[/]/, "");

/** What the models of each language are written from. Each object comes after those that it names. */
export const readSchemas = (
  documentText: string,
): { readonly models: readonly Model[]; readonly aliases: readonly Alias[]; readonly webhooks: Webhooks } => {
  const document = Document.parse(JSON.parse(documentText));
  const models = new Map<string, Model>();
  const aliases: Alias[] = [];
  const schemas = new Map(
    Object.entries(document.components.schemas)
      .filter(([name]) => !LEFT_OUT.has(name))
      .map(([name, schema]) => [name, Schema.parse(schema)]),
  );

  const addModel = (name: string, { properties, required, additionalProperties }: Schema): void => {
    if (models.has(name)) return;
    const fields = Object.entries(properties ?? {})
      .map(([field, schema]) => readField(`${name}${pascalCase(field)}`, field, schema, required.includes(field)))
      // The reference of an order is no field of it: a call takes it, so that none is placed without.
      .filter(({ name: field, isRequired }) => field !== "reference" || isRequired);
    models.set(name, { name, fields, isRequest: false, hasOtherFields: additionalProperties === true });
  };

  const readField = (modelName: string, name: string, schema: Schema, isRequired: boolean): Field => {
    const isNull = ({ type }: Schema): boolean => type === "null" || (Array.isArray(type) && type.includes("null"));
    const isNullable = isNull(schema) || (schema.anyOf?.some(isNull) ?? false);
    return { name, description: schema.description, type: typeOf(modelName, schema), isNullable, isRequired };
  };

  const typeOf = (modelName: string, schema: Schema): FieldType => {
    if (schema.$ref !== undefined) {
      const named = referenced(schema.$ref);
      const target = schemas.get(named);
      if (target?.properties) addModel(named, target);
      return { kind: "named", name: named };
    }
    if (schema.anyOf) {
      const of = schema.anyOf.filter(({ type }) => type !== "null").map((each) => typeOf(modelName, each));
      return of.length === 1 && of[0] ? of[0] : { kind: "either", of };
    }
    if (schema.properties) {
      addModel(modelName, schema);
      return { kind: "named", name: modelName };
    }
    if (schema.items) return { kind: "list", of: typeOf(modelName, schema.items) };
    if (schema.not) return { kind: "true" };
    if (schema.const !== undefined) return { kind: "values", values: [schema.const] };
    if (schema.enum) return { kind: "values", values: schema.enum };
    const type = [schema.type].flat().find((each) => each !== "null");
    if (type === "string") return { kind: "text" };
    if (type === "integer" || type === "number" || type === "boolean") return { kind: type };
    throw new Error(`${modelName} has a type that the models cannot have: ${JSON.stringify(schema)}`);
  };

  for (const [name, schema] of schemas) {
    if (schema.properties) addModel(name, schema);
    else aliases.push({ name, description: schema.description, type: typeOf(name, schema) });
  }
  const isRequest = partsOfRequests(models);
  const webhooks = Object.entries(document.webhooks).map(([event, { post }]): [string, string] => [
    event,
    referenced(post.requestBody.content["application/json"].schema.$ref),
  ]);
  return {
    models: [...models.values()].map((model) => ({ ...model, isRequest: isRequest(model) })),
    aliases,
    webhooks: new Map(webhooks),
  };
};

/** A request, and what a field of one names. */
const partsOfRequests = (models: ReadonlyMap<string, Model>) => {
  const requests = [...models.values()].filter(({ name }) => name.endsWith("Request"));
  const named = requests.flatMap(({ fields }) =>
    fields.flatMap(({ type }) => (type.kind === "named" ? [type.name] : [])),
  );
  const names = new Set([...requests.map(({ name }) => name), ...named]);
  return ({ name }: Model): boolean => names.has(name);
};
