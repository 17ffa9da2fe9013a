export type ConsoleRoute = {
  readonly method: "GET" | "POST";
  /**
   * `{path+}` stands for any rest of the path. No two of those overlap: AWS does not say which it prefers. It prefers a
   * route that matches in full. Source: AWS, "Create routes for HTTP APIs in API Gateway".
   */
  readonly path: `/console${string}` | `/operations/${string}`;
  readonly function: "console-api" | "reconcile-statement" | "answer-subjects" | "serve-console";
  /** What API Gateway verifies: a token of the company's identity provider, or a signature with AWS credentials. */
  readonly authorizer?: "jwt" | "iam";
  /** Its share of the stage's rate limit. */
  readonly share: number;
};

/** Those of the actions on the upstream's statements: `/operations/finance/reconciliation/cases/list`. */
const statementRoutes = (
  prefix: "/console-api" | "/operations/{role}",
  authorizer: "jwt" | "iam",
): readonly ConsoleRoute[] =>
  (["GET", "POST"] as const).map((method) => ({
    method,
    path: `${prefix}/reconciliation/{subject}/{verb}`,
    function: "reconcile-statement",
    authorizer,
    share: method === "GET" ? 0.25 : 0.1,
  }));

/** A route of the actions about a person, whose number is always in a body. */
const subjectRoute = (prefix: "/console-api" | "/operations/{role}", authorizer: "jwt" | "iam"): ConsoleRoute => ({
  method: "POST",
  path: `${prefix}/subjects/{verb}`,
  function: "answer-subjects",
  authorizer,
  share: 0.1,
});

/**
 * The routes that only a stage with a console has. One route stands for all actions of a method, here and for operators:
 * the permissions of a route for each would exceed the 20 KB that AWS allows for the policy of a function.
 */
export const consoleRoutes: readonly ConsoleRoute[] = [
  { method: "GET", path: "/console", function: "serve-console", share: 0.1 },
  { method: "GET", path: "/console/{path+}", function: "serve-console", share: 0.1 },
  { method: "GET", path: "/console-api/{path+}", function: "console-api", authorizer: "jwt", share: 0.25 },
  { method: "POST", path: "/console-api/{path+}", function: "console-api", authorizer: "jwt", share: 0.1 },
  ...statementRoutes("/console-api", "jwt"),
  subjectRoute("/console-api", "jwt"),
];

/** The same actions with AWS credentials, in every stage. Role and method let IAM tell who may do what. */
export const operatorRoutes: readonly ConsoleRoute[] = [
  { method: "GET", path: "/operations/{role}/{path+}", function: "console-api", authorizer: "iam", share: 0.25 },
  { method: "POST", path: "/operations/{role}/{path+}", function: "console-api", authorizer: "iam", share: 0.1 },
  ...statementRoutes("/operations/{role}", "iam"),
  subjectRoute("/operations/{role}", "iam"),
];

/** Those of operators come first, so that a console changes none of what API Gateway has for them. */
export const consoleRoutesOf = ({ console }: { readonly console?: unknown }): readonly ConsoleRoute[] =>
  console === undefined ? operatorRoutes : [...operatorRoutes, ...consoleRoutes];
