/** One request of a `.http` file, as editors send it, and the response that its comment expects. */
export type HttpRequest = {
  readonly title: string;
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly expected: { readonly status: number; readonly code: string | null };
};

const SEPARATOR = /^###[ \t]*(.*)$/m;
const VARIABLE = /^@(\w+)[ \t]*=[ \t]*(.*)$/gm;
const COMMENT = /^(?:#|\/\/)/;
const EXPECT = /^# expect (\d{3})(?: (\w+))?$/;
const REQUEST_LINE = /^(GET|POST|PUT|PATCH|DELETE) (\S+)$/;
const HEADER = /^([A-Za-z-]+): (.+)$/;

/**
 * Parses the syntax that VS Code's REST Client and JetBrains' HTTP Client share: `@name = value`, `{{name}}`, `###`
 * between requests, comments, a request line, headers, an empty line and a body. Throws on any other line.
 */
export const parseHttpFile = (
  text: string,
  given: Readonly<Record<string, string>>,
): { readonly variables: readonly string[]; readonly requests: readonly HttpRequest[] } => {
  const variables = new Map([...text.matchAll(VARIABLE)].map(([, name = "", value = ""]) => [name, value.trim()]));
  const values = new Map([...variables, ...Object.entries(given)]);
  const filled = text.replaceAll(/\{\{(\w+)\}\}/g, (_whole, name: string) => {
    const value = values.get(name);
    if (value === undefined) throw new Error(`{{${name}}} has no value`);
    return value;
  });
  // The text before the first separator, then a title and its text in turn.
  const [preamble = "", ...parts] = filled.split(SEPARATOR);
  const stray = preamble.split("\n").find((line) => line.trim() !== "" && !COMMENT.test(line) && !line.startsWith("@"));
  if (stray !== undefined) throw new Error(`"${stray}" is before the first request`);
  const requests = parts.flatMap((title, index) =>
    index % 2 === 0 ? [parseRequest(title, parts[index + 1] ?? "")] : [],
  );
  return { variables: [...variables.keys()], requests };
};

const parseRequest = (title: string, text: string): HttpRequest => {
  const [head = "", ...rest] = text.trim().split(/\n[ \t]*\n/);
  const lines = head.split("\n");
  const expected = lines.map((line) => EXPECT.exec(line)).find((match) => match !== null);
  const [requestLine = "", ...headerLines] = lines.filter((line) => !COMMENT.test(line));
  const [, method, url] = REQUEST_LINE.exec(requestLine) ?? [];
  if (expected === undefined) throw new Error(`"${title}" has no comment "# expect"`);
  if (method === undefined || url === undefined) throw new Error(`"${title}" has no request line`);
  const headers = headerLines.map((line): [string, string] => {
    const [, name, value] = HEADER.exec(line) ?? [];
    if (name === undefined || value === undefined) throw new Error(`"${title}": "${line}" is not a header`);
    return [name.toLowerCase(), value];
  });
  const body = rest.join("\n\n").trim();
  return {
    title,
    method,
    url,
    headers: Object.fromEntries(headers),
    body: body === "" ? undefined : body,
    expected: { status: Number(expected[1]), code: expected[2] ?? null },
  };
};
