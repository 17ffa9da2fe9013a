import * as z from "#zod";
import { type Field, type FieldType, type Model, referenced } from "./schemas.ts";

/** A request that an app makes, as a method of the clients. */
export type Operation = {
  readonly name: string;
  /** What it does, in sentences. */
  readonly description: string;
  /** The URL's path, with `{names}`. */
  readonly path: string;
  /** What a GET is asked for, in its path or its query. */
  readonly parameters: readonly Parameter[];
  /** The body's model, of a POST. */
  readonly request: Model | undefined;
  /** The name of the answer's model. */
  readonly answer: string;
  /** The only field of the answer, which is then what a call returns. */
  readonly returned: Field | undefined;
  /** The type of the transaction that it makes; undefined of what places no order. */
  readonly orderType: string | undefined;
  readonly mayConfirmDuplicate: boolean;
};

/** What a GET is asked for: a text, which can be one of an enumeration. */
export type Parameter = { readonly name: string; readonly type: FieldType; readonly isInPath: boolean };

const Reference = z.object({ $ref: z.string() });
const ReadParameter = z.object({
  name: z.string(),
  in: z.enum(["path", "query"]),
  schema: z.object({ $ref: z.optional(z.string()) }),
});
const ReadSuccess = z.object({
  headers: z.record(z.string(), z.unknown()),
  content: z.object({
    "application/json": z.object({
      schema: z.object({ properties: z.object({ data: Reference }) }),
      example: z.object({ data: z.looseObject({ transaction: z.optional(z.looseObject({ type: z.string() })) }) }),
    }),
  }),
});
const ReadOperation = z.object({
  operationId: z.string(),
  summary: z.string(),
  description: z._default(z.string(), ""),
  parameters: z._default(z.array(z.union([Reference, ReadParameter])), []),
  requestBody: z.optional(z.object({ content: z.object({ "application/json": z.object({ schema: Reference }) }) })),
  responses: z.object({ "200": ReadSuccess }),
});
const Document = z.object({
  paths: z.record(z.string(), z.record(z.string(), z.looseObject({ security: z.optional(z.array(z.unknown())) }))),
});

const readParameter = ({ name, schema, ...parameter }: z.output<typeof ReadParameter>): Parameter => ({
  name,
  type: schema.$ref === undefined ? { kind: "text" } : { kind: "named", name: referenced(schema.$ref) },
  isInPath: parameter.in === "path",
});

/** What an order's answer has in its headers, as fields of its model. */
const headerFields: Readonly<Record<string, Field>> = {
  "Idempotent-Replayed": {
    name: "replayed",
    description: "True if an earlier request with this reference made the transaction.",
    type: { kind: "boolean" },
    isNullable: false,
    isRequired: true,
  },
  "X-Estimated-Delivery": {
    name: "estimated_delivery_s",
    description: "While the order waits: the estimated seconds until its delivery.",
    type: { kind: "integer" },
    isNullable: true,
    isRequired: true,
  },
};

/** The operations of the document that need a key, and the models with what is in the headers of their answers. */
export const readOperations = (
  documentText: string,
  models: readonly Model[],
): { readonly operations: readonly Operation[]; readonly models: readonly Model[] } => {
  const byName = new Map(models.map((model) => [model.name, model]));
  const fromHeaders = new Map<string, readonly Field[]>();

  const readOperation = (path: string, text: unknown): Operation => {
    const { operationId, summary, description, parameters, requestBody, responses } = ReadOperation.parse(text);
    const { headers, content } = responses["200"];
    const { schema, example } = content["application/json"];
    const request = requestBody && byName.get(referenced(requestBody.content["application/json"].schema.$ref));
    const answer = referenced(schema.properties.data.$ref);
    const fields = byName.get(answer)?.fields ?? [];
    const refs = parameters.flatMap((each) => ("$ref" in each ? referenced(each.$ref) : []));
    // An order can be without a reference, so that is no field of its model; a cancellation cannot.
    const isOrder = request !== undefined && !request.fields.some(({ name }) => name === "reference");
    if (isOrder)
      fromHeaders.set(
        answer,
        Object.keys(headers).flatMap((name) => headerFields[name] ?? []),
      );
    return {
      name: operationId,
      description: `${summary}. ${description.split("```")[0] ?? ""}`.trim(),
      path,
      parameters: parameters.flatMap((each) => ("$ref" in each ? [] : [readParameter(each)])),
      request,
      answer,
      returned: fields.length === 1 && !isOrder ? fields[0] : undefined,
      orderType: isOrder ? z.string().parse(example.data.transaction?.type) : undefined,
      mayConfirmDuplicate: refs.includes("ConfirmDuplicate"),
    };
  };

  const operations = Object.entries(Document.parse(JSON.parse(documentText)).paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { security }]) => security === undefined)
      .map(([, text]) => readOperation(path, text)),
  );
  return {
    operations,
    models: models.map((model) => ({ ...model, fields: [...model.fields, ...(fromHeaders.get(model.name) ?? [])] })),
  };
};
