import { expect, test } from "vitest";
import { consoleRedirect } from "../../../../shared/console/console-redirect.ts";

const requestOf = (method: string, rawPath: string) => ({ rawPath, requestContext: { http: { method } } });

test("the console's path with a slash at its end leads to the console", () => {
  expect(consoleRedirect(requestOf("GET", "/console/"))).toMatchObject({
    statusCode: 302,
    headers: { location: "/console", "strict-transport-security": "max-age=31536000" },
  });
});

test.for([
  ["POST", "/console/"],
  ["GET", "//evil.example.com/"],
  ["GET", "/v1/unknown/"],
  ["GET", "/console//"],
] as const)("%s %s is not redirected", ([method, path]) => {
  expect(consoleRedirect(requestOf(method, path))).toBeUndefined();
});
