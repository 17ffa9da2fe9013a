import { type Operation, type Parameter, readOperations } from "./operations.ts";
import { readSchemas } from "./schemas.ts";

const HEADER = `# Written by npm run openapi from docs/openapi.json.
"""The operations of the service, as methods of each kind of client."""

from __future__ import annotations

from . import models
from ._client import AsyncClient, BlockingClient, run
from ._rule import cancel, checked, get, place
`;

/** How a kind of client runs a call. */
const kinds = [
  {
    head: `class AirtimeClient(BlockingClient):
    """A client of the service. One for each API key is enough for a process; threads can share it."""
`,
    define: "def",
    run: (call: string) => `run(${call})`,
  },
  {
    head: `class AsyncAirtimeClient(AsyncClient):
    """The same for asyncio and trio. If a call that places an order is cancelled, the order is not decided."""
`,
    define: "async def",
    run: (call: string, isPart: boolean) => (isPart ? `(await ${call})` : `await ${call}`),
  },
] as const;

/** The methods of the Python clients. */
export const pythonOperations = (documentText: string): string => {
  const { operations } = readOperations(documentText, readSchemas(documentText).models);
  const classes = kinds.map(({ head, ...kind }) =>
    [head, ...operations.map((operation) => methodText(operation, kind))].join("\n"),
  );
  return [HEADER, ...classes].join("\n\n");
};

const methodText = (operation: Operation, kind: Pick<(typeof kinds)[number], "define" | "run">): string => {
  const { answer, returned } = operation;
  const type = returned?.type.kind === "named" ? returned.type.name : answer;
  const field = returned ? `.${returned.name}` : "";
  return `    ${kind.define} ${snakeCase(operation.name)}(${["self", ...parametersOf(operation)].join(", ")}) -> models.${type}:
        """${operation.description}"""
        return ${kind.run(callOf(operation), returned !== undefined)}${field}
`;
};

const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** `from` is a word of the language. */
const pythonName = (name: string): string => (name === "from" ? "from_" : name);

const typeOf = ({ type }: Pick<Parameter, "type">): string => (type.kind === "named" ? `models.${type.name}` : "str");

const parametersOf = ({ orderType, request, parameters, mayConfirmDuplicate }: Operation): readonly string[] => {
  if (orderType !== undefined) {
    const confirm = mayConfirmDuplicate ? ["confirm_duplicate: bool = False"] : [];
    return [`order: models.${request?.name}`, "*", "reference: str", ...confirm];
  }
  if (request) return request.fields.map((field) => `${field.name}: ${typeOf(field)}`);
  const inQuery = parameters.filter(({ isInPath }) => !isInPath);
  return [
    ...parameters.filter(({ isInPath }) => isInPath).map(({ name }) => `${name}: str`),
    ...(inQuery.length > 0 ? ["*"] : []),
    ...inQuery.map((parameter) => `${pythonName(parameter.name)}: ${typeOf(parameter)} | None = None`),
  ];
};

const callOf = ({ path, answer, request, orderType, parameters, mayConfirmDuplicate }: Operation): string => {
  const target = `models.${answer}`;
  if (orderType !== undefined) {
    const confirm = mayConfirmDuplicate ? ", confirm_duplicate" : "";
    return `place(self, "${path}", ${target}, "${orderType}", order, reference${confirm})`;
  }
  if (request) {
    const fields = request.fields.map(({ name }) => `${name}=${name}`);
    return `cancel(self, "${path}", ${target}, models.${request.name}(${fields.join(", ")}))`;
  }
  if (path.includes("{reference}")) {
    return `get(self, f"${path.replace("{reference}", "{checked(reference)}")}", ${target}, reference=reference)`;
  }
  const query = parameters.map(({ name }) => `"${name}": ${pythonName(name)}`);
  return `get(self, "${path}", ${target}${query.length > 0 ? `, {${query.join(", ")}}` : ""})`;
};
