import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import * as z from "#zod";
import { errorCodes, errors } from "../../../../shared/contract/errors.ts";
import { rateGroups } from "../../../../shared/contract/limits.ts";
import { permissionSchema } from "../../../../shared/contract/permission.ts";
import { errorsOf, isOrder, type Route, type Routes, routeKey } from "../../../../shared/contract/route.ts";
import * as contractRoutes from "../../../../shared/contract/routes.ts";
import {
  livePrefixes,
  TEST_PREFIX,
  type TransactionType,
  transactionType,
} from "../../../../shared/contract/transaction.ts";

const { routes } = contractRoutes;
const all = Object.values(routes);

test("no two routes have the same method and path", () => {
  expect(new Set(all.map(routeKey)).size).toBe(all.length);
});

test("each group of routes has those of one function, and every route is in one", () => {
  const { routes: _all, appRoutes: _shown, ...groups } = contractRoutes;
  for (const group of Object.values<Routes>(groups)) {
    expect(new Set(Object.values(group).map((route) => route.function)).size).toBe(1);
  }
  expect(new Set(Object.values(groups).flatMap(Object.keys))).toEqual(new Set(Object.keys(routes)));
});

test("orders are the purchases, the identity requests and a cancellation, and each needs a permission", () => {
  const orders = all.filter(isOrder);
  expect(orders.map(({ path }) => path)).toEqual([
    "/v1/vtu/data/purchase",
    "/v1/vtu/airtime/purchase",
    "/v1/identity/nin/verify",
    "/v1/identity/nin/retrieve",
    "/v1/identity/bvn/verify",
    "/v1/identity/bvn/retrieve",
    "/v1/transactions/cancel",
  ]);
  for (const order of orders) expect(errorsOf(order)).toContain("permission_denied");
});

test("no route documents an error twice, and public documents have no error about a key", () => {
  for (const route of all) expect(new Set(errorsOf(route)).size, route.path).toBe(errorsOf(route).length);
  expect(errorsOf(routes.describeApi)).toEqual(["internal_error"]);
});

test("every error is an answer of some route", () => {
  const answers = new Set(all.flatMap(errorsOf));
  expect(errorCodes.filter((code) => !answers.has(code))).toEqual([]);
});

test("every permission is needed by some route", () => {
  const needed = new Set(Object.values<Route>(routes).flatMap(({ permissions = [] }) => permissions));
  expect(permissionSchema.options.filter((permission) => !needed.has(permission))).toEqual([]);
});

test("every type of transactions is ordered by some route", () => {
  const example = z.object({ transaction: z.object({ type: transactionType }) });
  const ordered = new Set(
    all.filter(isOrder).map((route) => example.safeParse(route.example.data).data?.transaction.type),
  );
  expect(transactionType.options.filter((type) => !ordered.has(type))).toEqual([]);
});

const wrongValues: readonly unknown[] = [null, true, 1, -1.5, 1e300, "", "?", "x".repeat(500), [], {}, ["x"]];
const fields = Object.values<Route>(contractRoutes.appRoutes).flatMap((route) =>
  Object.keys(route.input.shape).map((field) => ({ route, field, path: route.path })),
);

test.each(fields)("$path says in words of its own what is wrong with $field", ({ route, field }) => {
  for (const value of wrongValues) {
    const issues =
      route.input.safeParse(Object.assign({}, route.example.input, { [field]: value })).error?.issues ?? [];
    for (const { message } of issues) expect(message).not.toMatch(/^(Invalid|Too|Unrecognized)/);
  }
});

const interfaceLines = readFileSync(new URL("../../../../docs/interface.md", import.meta.url), "utf8").split("\n");
const interfaceRows = interfaceLines.filter((line) => line.startsWith("| `"));

test("docs/interface.md lists every error in rule 5.5 with its status, and no other", () => {
  const listed = interfaceLines.flatMap((line) => {
    const [, status, code = ""] = /^\| (\d{3}) \| `(\w+)` \|/.exec(line) ?? [];
    return status === undefined ? [] : [[code, Number(status)] as const];
  });
  expect(Object.fromEntries(listed)).toEqual(
    Object.fromEntries(Object.entries(errors).map(([code, { status }]) => [code, status])),
  );
});

test("docs/interface.md lists every permission in 2.D5, and every type of transactions in rule 8.5", () => {
  const rule = interfaceLines.find((line) => line.startsWith("| 2.D5 |")) ?? "";
  expect(permissionSchema.options.filter((permission) => !rule.includes(`\`${permission}\``))).toEqual([]);
  const prefixes = interfaceRows.filter((row) => row.includes(`| \`${TEST_PREFIX}\` |`));
  const isListed = (type: TransactionType) =>
    prefixes.some((row) => row.includes(`\`${type}\``) && row.includes(`| \`${livePrefixes[type]}\` |`));
  expect(transactionType.options.filter((type) => !isListed(type))).toEqual([]);
});

test.each(Object.values<Route>(routes))("docs/interface.md lists $method $path in rule 1.6", (route) => {
  const { method, path, permissions = [], group, document, audience } = route;
  const row = interfaceRows.find((line) => line.includes(`\`${method} ${path.replace("/v1", "")}\``));
  expect(row, "Add the endpoint to rule 1.6").toBeDefined();
  expect(row).toContain(` \`${route.function}\` |`);
  if (permissions.length > 0) expect(row).toContain(`| ${permissions.map((one) => `\`${one}\``).join(" or ")} |`);
  if (document === undefined && audience === undefined) expect(row).toContain(`| \`${group}\` |`);
});

test("README.md lists every GET in Read endpoints", () => {
  const [, section = ""] = readFileSync("README.md", "utf8").split("## Read endpoints");
  const listed = [...section.matchAll(/^\| `(GET [^`?]+)/gm)].map(([, key]) => key);
  expect(listed).toEqual(expect.arrayContaining(all.filter(({ method }) => method === "GET").map(routeKey)));
});

test.each(Object.entries(rateGroups))("docs/interface.md lists the rate group %s in rule 6.1", (group, limit) => {
  const row = interfaceRows.find((line) => line.startsWith(`| \`${group}\` |`));
  expect(row).toMatch(new RegExp(`\\| ${limit.requestsPerMinute} \\|$`));
});
