import type { Route } from "../route.ts";

/**
 * An operation's example as a call with curl, in which $BASE_URL and $API_KEY stand, and with the client; undefined for
 * what no app calls.
 */
export const callsOf = (route: Route): { readonly curl: string; readonly client: string } | undefined =>
  route.clientMethod === undefined
    ? undefined
    : { curl: curlCall(route), client: clientCall(route.clientMethod, route) };

/** The calls in Markdown; "" if there are none. */
export const samplesOf = (route: Route): string => {
  const calls = callsOf(route);
  return calls === undefined ? "" : `\`\`\`sh\n${calls.curl}\n\`\`\`\n\n\`\`\`ts\n${calls.client}\n\`\`\``;
};

const curlCall = ({ method, path, example }: Route): string => {
  const fields = Object.entries(Object(example.input));
  const isInPath = (name: string): boolean => path.includes(`{${name}}`);
  const filled = fields.reduce(
    (url, [name, value]) => url.replace(`{${name}}`, String(value)),
    path.slice("/v1".length),
  );
  const query = new URLSearchParams();
  for (const [name, value] of method === "GET" ? fields : []) if (!isInPath(name)) query.set(name, String(value));
  return [
    `curl "$BASE_URL${filled}${query.size > 0 ? `?${query}` : ""}" -H "Authorization: Bearer $API_KEY"`,
    ...(method === "POST" ? [`-H 'Content-Type: application/json' -d '${JSON.stringify(example.input)}'`] : []),
  ].join(" \\\n  ");
};

const clientCall = (name: string, { method, path, example }: Route): string => {
  const { reference, ...fields }: { readonly reference?: unknown } = Object(example.input);
  if (name === "transactions.cancel") return `await client.${name}(${objectLiteral(Object(example.input))});`;
  if (path.includes("{reference}")) return `await client.${name}(${JSON.stringify(reference)});`;
  const body = Object.keys(fields).length > 0 ? objectLiteral(fields) : "";
  if (method === "POST") return `await client.${name}(\n  ${body},\n  ${objectLiteral({ reference })},\n);`;
  // A list is read page by page, as the loop goes on.
  return name === "transactions.list"
    ? `for await (const transaction of client.${name}(${body})) console.log(transaction);`
    : `await client.${name}(${body});`;
};

/** `{ networkId: 1 }` for `{ network_id: 1 }`: the client's field names are in camel case. */
const objectLiteral = (fields: Readonly<Record<string, unknown>>): string =>
  `{ ${Object.entries(fields)
    .map(
      ([name, value]) =>
        `${name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())}: ${JSON.stringify(value)}`,
    )
    .join(", ")} }`;
