import type { ConsoleFunctionName } from "./functions.ts";

export type ConsoleRoute = {
  readonly method: "GET" | "POST";
  /** `{path+}` stands for any rest of the path. No two of them overlap: AWS does not say which it prefers. */
  readonly path: `/console${string}`;
  readonly function: ConsoleFunctionName;
  /** The request needs a token of the company's identity provider, which API Gateway verifies. */
  readonly needsToken?: true;
  /** Its share of the stage's rate limit. */
  readonly share: number;
};

/**
 * The routes of a stage with a console. One route stands for all actions of a method: the permissions of a route for
 * each would exceed the 20 KB that AWS allows for the policy of a function.
 */
export const consoleRoutes: readonly ConsoleRoute[] = [
  { method: "GET", path: "/console", function: "serve-console", share: 0.1 },
  { method: "GET", path: "/console/{path+}", function: "serve-console", share: 0.25 },
  { method: "GET", path: "/console-api/{path+}", function: "console-api", needsToken: true, share: 0.25 },
  { method: "POST", path: "/console-api/{path+}", function: "console-api", needsToken: true, share: 0.1 },
];

/** As API Gateway names a route in its settings and in its access log. */
export const consoleRouteKey = ({ method, path }: ConsoleRoute): string => `${method} ${path}`;
