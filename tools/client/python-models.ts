import { readOperations } from "./operations.ts";
import { type Field, type FieldType, type Model, readSchemas, type Webhooks } from "./schemas.ts";

const HEADER = `# Written by npm run openapi from docs/openapi.json.
"""What the service is sent and answers. Amounts are NGN."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal
`;

/** The dataclasses of the Python client: one for each object of the document. */
export const pythonModels = (documentText: string): string => {
  const { models: described, aliases, webhooks } = readSchemas(documentText);
  const { models } = readOperations(documentText, described);
  const texts = aliases.map(
    ({ name, description, type }) => `${name} = ${typeText(type, false)}\n${docstring(description)}`,
  );
  return [HEADER, ...texts, ...models.map(modelText), webhooksText(webhooks)].join("\n");
};

const webhooksText = (webhooks: Webhooks): string => `
WebhookEvent = ${[...webhooks.values()].join(" | ")}
WEBHOOK_EVENTS: dict[str, type[WebhookEvent]] = {
${[...webhooks].map(([event, name]) => `    "${event}": ${name},\n`).join("")}}
`;

const modelText = ({ name, fields, isRequest, hasOtherFields }: Model): string => `
@dataclass(frozen=True, kw_only=True)
class ${name}:
${fields.map((each) => fieldText(each, isRequest)).join("")}${hasOtherFields ? OTHER_FIELDS : ""}`;

const OTHER_FIELDS = `    additional: dict[str, Any] = field(default_factory=dict)
    """What the service answered besides."""
`;

const fieldText = ({ name, description, type, isNullable, isRequired }: Field, isRequest: boolean): string => {
  const optional = isNullable || !isRequired ? " | None" : "";
  const value = isRequired ? "" : " = None";
  return `    ${name}: ${typeText(type, isRequest)}${optional}${value}\n${docstring(description, "    ")}`;
};

const docstring = (text: string, indent = ""): string => (text === "" ? "" : `${indent}"""${text}"""\n`);

/** An answer's amounts are exact; a request takes each kind of number. */
const typeText = (type: FieldType, isRequest: boolean): string => {
  switch (type.kind) {
    case "text":
      return "str";
    case "integer":
      return "int";
    case "number":
      return isRequest ? "Decimal | float" : "Decimal";
    case "boolean":
      return "bool";
    case "true":
      return "Literal[True]";
    case "values":
      return `Literal[${type.values.map((value) => JSON.stringify(value)).join(", ")}]`;
    case "named":
      return type.name;
    case "list":
      return `list[${typeText(type.of, isRequest)}]`;
    case "either":
      return type.of.map((each) => typeText(each, isRequest)).join(" | ");
  }
};
