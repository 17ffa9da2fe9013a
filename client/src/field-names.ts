/** `phone_number` becomes `phoneNumber`. */
const camelCase = (name: string): string => name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** An answer with its field names in camel case, at every level. */
export const withCamelCase = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withCamelCase);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [camelCase(name), withCamelCase(field)]));
};

/** A request as JSON, with its field names in snake case, at every level. */
export const jsonInSnakeCase = (request: object): string =>
  JSON.stringify(request, (_, value: unknown) =>
    isRecord(value)
      ? Object.fromEntries(Object.entries(value).map(([name, field]) => [snakeCase(name), field]))
      : value,
  );

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
