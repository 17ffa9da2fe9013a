import { readOperations } from "./operations.ts";
import {
  camelCase,
  type Field,
  type FieldType,
  type Model,
  readSchemas,
  typeWriter,
  type Webhooks,
} from "./schemas.ts";

const HEADER = `<?php

// Written by npm run openapi from docs/openapi.json.

declare(strict_types=1);

namespace AirtimeService\\Model;
`;
const USE_FIELDS = "\nuse AirtimeService\\Fields;\n";

/** The classes of the PHP client, by the names of their files: one for each object of the document. */
export const phpModels = (documentText: string): ReadonlyMap<string, string> => {
  const { models: described, aliases, webhooks } = readSchemas(documentText);
  const { models } = readOperations(documentText, described);
  const isObject = new Set(models.map(({ name }) => name));
  const texts = new Map(aliases.map(({ name, type }) => [name, type]));
  const files = models.map((model): [string, string] => [
    `${model.name}.php`,
    `${HEADER}${model.isRequest ? "" : USE_FIELDS}\n${classText(model, { isObject, texts })}`,
  ]);
  return new Map([...files, ["WebhookEvents.php", `${HEADER}${USE_FIELDS}\n${webhooksText(webhooks)}`]]);
};

/** What a name of the document is: an object, or another name for a text. */
type Names = { readonly isObject: ReadonlySet<string>; readonly texts: ReadonlyMap<string, FieldType> };

const classText = ({ name, fields, isRequest, hasOtherFields }: Model, names: Names): string => {
  // PHP wants the optional parameters last.
  const parameters = [...fields].sort((one, other) => Number(other.isRequired) - Number(one.isRequired));
  const other = hasOtherFields
    ? "        /** @var array<mixed> What the service answered besides. */\n        public readonly array $additional,\n"
    : "";
  return `final class ${name}
{
    public function __construct(
${parameters.map((field) => parameterText(field, names)).join("")}${other}    ) {
    }
${isRequest ? toArrayText(fields, names) : fromFieldsText(fields, hasOtherFields, names)}}
`;
};

const parameterText = ({ name, description, type, isNullable, isRequired }: Field, names: Names): string => {
  const doc = docText(description, type, names);
  const isOptional = isNullable || !isRequired;
  const value = isRequired ? "" : " = null";
  const types = `${typeText(type, names)}${isOptional ? "|null" : ""}`;
  return `${doc}        public readonly ${types} $${camelCase(name)}${value},\n`;
};

const docText = (description: string, type: FieldType, names: Names): string => {
  const values = type.kind === "named" ? names.texts.get(type.name) : type;
  const list = type.kind === "list" ? `@var list<${typeText(type.of, names)}>` : "";
  const one = values?.kind === "values" ? `One of: ${values.values.map((value) => `\`${value}\``).join(", ")}.` : "";
  const text = [list, description, one].filter((part) => part !== "").join(" ");
  return text === "" ? "" : `        /** ${text} */\n`;
};

const typeText = (type: FieldType, { isObject }: Names): string =>
  typeWriter({
    ...{ text: "string", integer: "int", number: "float", boolean: "bool", true: "bool" },
    named: (name) => (isObject.has(name) ? name : "string"),
    list: () => "array",
    either: (of) => of.join("|"),
  })(type);

const toArrayText = (fields: readonly Field[], names: Names): string => `
    /** @return array<string, mixed> */
    public function toArray(): array
    {
        return array_filter([
${fields
  .map(({ name, type }) => {
    const isObject = type.kind === "named" && names.isObject.has(type.name);
    return `            '${name}' => $this->${camelCase(name)}${isObject ? "?->toArray()" : ""},\n`;
  })
  .join("")}        ], static fn (mixed $value): bool => $value !== null);
    }
`;

const fromFieldsText = (fields: readonly Field[], hasOtherFields: boolean, names: Names): string => {
  const other = hasOtherFields
    ? `            additional: $fields->without([${fields.map(({ name }) => `'${name}'`).join(", ")}]),\n`
    : "";
  return `
    public static function fromFields(Fields $fields): self
    {
        return new self(
${fields.map((field) => `            ${camelCase(field.name)}: ${readText(field, names)},\n`).join("")}${other}        );
    }
`;
};

const readText = ({ name, type, isNullable }: Field, names: Names): string => {
  const value = valueText(name, type, names);
  return isNullable ? `$fields->has('${name}') ? ${value} : null` : value;
};

const valueText = (name: string, type: FieldType, names: Names): string => {
  switch (type.kind) {
    case "integer":
    case "number":
    case "boolean":
      return `$fields->${type.kind}('${name}')`;
    case "list":
      return `array_map(${typeText(type.of, names)}::fromFields(...), $fields->list('${name}'))`;
    case "named":
      return names.isObject.has(type.name)
        ? `${type.name}::fromFields($fields->object('${name}'))`
        : `$fields->text('${name}')`;
    case "either":
      return `$fields->either('${name}', ${type.of.map((each) => `${typeText(each, names)}::fromFields(...)`).join(", ")})`;
    case "text":
    case "values":
    case "true":
      return `$fields->text('${name}')`;
  }
};

const webhooksText = (webhooks: Webhooks): string => `/** The events that this release knows. */
final class WebhookEvents
{
    public static function read(string $name, Fields $fields): ${[...webhooks.values()].join("|")}|null
    {
        return match ($name) {
${[...webhooks].map(([event, name]) => `            '${event}' => ${name}::fromFields($fields),\n`).join("")}            default => null,
        };
    }
}
`;
