import { readOperations } from "./operations.ts";
import { type Field, type Model, readSchemas, typeWriter, type Webhooks } from "./schemas.ts";

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
    ({ name, description, type }) => `${name} = ${answerType(type)}\n${docstring(description)}`,
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
  return `    ${name}: ${(isRequest ? requestType : answerType)(type)}${optional}${value}\n${docstring(description, "    ")}`;
};

const docstring = (text: string, indent = ""): string => (text === "" ? "" : `${indent}"""${text}"""\n`);

const typesWith = (number: string) =>
  typeWriter({
    ...{ text: "str", integer: "int", number, boolean: "bool", true: "Literal[True]" },
    values: (values) => `Literal[${values.map((value) => JSON.stringify(value)).join(", ")}]`,
    list: (of) => `list[${of}]`,
    either: (of) => of.join(" | "),
  });

/** An answer's amounts are exact; a request takes each kind of number. */
const answerType = typesWith("Decimal");
const requestType = typesWith("Decimal | float");
