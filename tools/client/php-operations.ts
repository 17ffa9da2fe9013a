import { type Operation, readOperations } from "./operations.ts";
import { readSchemas } from "./schemas.ts";

const HEADER = `<?php

// Written by npm run openapi from docs/openapi.json.

declare(strict_types=1);

namespace AirtimeService;
`;

/** The class `Client` of the PHP client. */
export const phpOperations = (documentText: string): string => {
  const { operations } = readOperations(documentText, readSchemas(documentText).models);
  const used = operations.flatMap(({ request, answer, returned }) => [
    answer,
    ...(request ? [request.name] : []),
    ...(returned?.type.kind === "named" ? [returned.type.name] : []),
  ]);
  return `${HEADER}
use AirtimeService\\Model\\{${[...new Set(used)].sort().join(", ")}};

/** A client of the service. Every order has a reference, and is charged and delivered once, however often it is sent. */
final class Client extends BaseClient
{
${operations.map(methodText).join("\n")}}
`;
};

const methodText = (operation: Operation): string => {
  const { name, description, answer, returned } = operation;
  const type = returned?.type.kind === "named" ? returned.type.name : answer;
  const field = returned ? `->${returned.name}` : "";
  return `    /** ${description} */
    public function ${name}(${parametersOf(operation).join(", ")}): ${type}
    {
        return $this->${callOf(operation)}${field};
    }
`;
};

const parametersOf = ({ orderType, request, parameters, mayConfirmDuplicate }: Operation): readonly string[] => {
  if (orderType !== undefined) {
    const confirm = mayConfirmDuplicate ? ["bool $confirmDuplicate = false"] : [];
    return [`#[\\SensitiveParameter] ${request?.name} $order`, "string $reference", ...confirm];
  }
  if (request) return request.fields.map(({ name }) => `string $${name}`);
  return parameters.map(({ name, isInPath }) => (isInPath ? `string $${name}` : `?string $${name} = null`));
};

const callOf = ({ path, answer, request, orderType, parameters, mayConfirmDuplicate }: Operation): string => {
  const read = `${answer}::fromFields(...)`;
  if (orderType !== undefined) {
    const confirm = mayConfirmDuplicate ? ", $confirmDuplicate" : "";
    return `place('${path}', ${read}, '${orderType}', $order->toArray(), $reference${confirm})`;
  }
  if (request) {
    const fields = request.fields.map(({ name }) => `$${name}`);
    return `cancel('${path}', ${read}, new ${request.name}(${fields.join(", ")}))`;
  }
  if (path.includes("{reference}")) {
    return `get('${path.replace("{reference}", "' . self::checked($reference)")}, ${read}, reference: $reference)`;
  }
  const query = parameters.map(({ name }) => `'${name}' => $${name}`);
  return `get('${path}', ${read}${query.length > 0 ? `, [${query.join(", ")}]` : ""})`;
};
