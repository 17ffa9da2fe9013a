import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generateSource } from "oazapfts";
import * as z from "#zod";
import { camelCase } from "./schemas.ts";

const HEADER = `// Written by npm run openapi from docs/openapi.json, with its field names in camel case.
`;

/** An `export type`, on one line or up to its closing brace. */
const DECLARATION = /^export type [^\n{]*;$|^export type [^\n]*\{\n[\s\S]*?^\};$/gm;

const openApi = z.looseObject({
  components: z.looseObject({ schemas: z.record(z.string(), z.unknown()) }),
});

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A schema whose fields have names in camel case; a boolean that must not be `false` has the type `true`. */
const renamed = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(renamed);
  if (!isRecord(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => {
      if (key === "properties" && isRecord(value)) {
        return [
          key,
          Object.fromEntries(Object.entries(value).map(([name, field]) => [camelCase(name), renamed(field)])),
        ];
      }
      if (key === "not" && isRecord(value) && value.const === false) return ["const", true];
      if (key === "required" && Array.isArray(value)) return [key, value.map((name) => camelCase(String(name)))];
      return [key, renamed(value)];
    }),
  );
};

/** The types of the client: one for each schema of the document. */
export const contractTypes = async (documentText: string): Promise<string> => {
  const { components } = openApi.parse(JSON.parse(documentText));
  const { OpenApiDocument: _document, ErrorEnvelope: _envelope, ...schemas } = components.schemas;
  // The generator writes the types that operations refer to, so each schema gets an operation.
  const paths = Object.fromEntries(
    Object.keys(schemas).map((name) => [
      `/${name}`,
      {
        get: {
          operationId: `get${name}`,
          responses: {
            "200": {
              description: "",
              content: { "application/json": { schema: { $ref: `#/components/schemas/${name}` } } },
            },
          },
        },
      },
    ]),
  );
  const document = {
    openapi: "3.1.1",
    info: { title: "", version: "1" },
    paths,
    components: { schemas: renamed(schemas) },
  };
  const source = await sourceOf(document);
  const types = source.match(DECLARATION) ?? [];
  if (types.length < Object.keys(schemas).length) throw new Error("The generator left out a schema");
  const text = types.join("\n").replaceAll("[key: string]: any;", "[key: string]: unknown;");
  return `${HEADER}${text}\n`;
};

/** The generator reads a file. */
const sourceOf = async (document: unknown): Promise<string> => {
  const folder = mkdtempSync(join(tmpdir(), "contract-types-"));
  const file = join(folder, "openapi.json");
  writeFileSync(file, JSON.stringify(document));
  return generateSource(file).finally(() => rmSync(folder, { recursive: true }));
};
