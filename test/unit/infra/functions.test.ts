import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { consoleRoutes, operatorRoutes } from "../../../infra/console-routes.ts";
import { functionNames, functionNamesOf, invokedBy, specOf } from "../../../infra/functions.ts";
import { routes } from "../../../shared/contract/routes.ts";

test.each(functionNames)("%s is invoked by routes exactly if a route names it", (name) => {
  const served = [...Object.values(routes), ...consoleRoutes, ...operatorRoutes].some(
    (route) => route.function === name,
  );
  expect(specOf(name).invokedBy.kind === "routes").toBe(served);
});

/** Read where all calls to AWS are made. */
const OF_ALL_FUNCTIONS = "AWS_CALLS";

test.each(functionNames)("the handler of %s reads each variable of its spec, which its role lets it use", (name) => {
  const handler = readFileSync(`functions/${name}/handler.ts`, "utf8");
  const names = (specOf(name).environment ?? []).filter((variable) => variable !== OF_ALL_FUNCTIONS);
  expect(names.filter((variable) => !handler.includes(`env.${variable}`))).toEqual([]);
});

test("each function is in the overview of docs/architecture.md", () => {
  const [, overview = ""] = readFileSync("docs/architecture.md", "utf8").split("```mermaid");
  expect(functionNames.filter((name) => !new RegExp(`(?<![\\w-])${name}(?![\\w-])`).test(overview))).toEqual([]);
});

test("a queue, a stream or the default route that invokes no function or two is an error", () => {
  expect(() => invokedBy(() => false)).toThrow("invokes one function");
  expect(() => invokedBy(({ kind }) => kind === "queue")).toThrow("invokes one function");
  expect(invokedBy((trigger) => trigger.kind === "queue" && trigger.queue === "delivery")).toBe("deliver-webhook");
});

test("a stage asks its upstream if that can be asked for an order or for the balance", () => {
  const asks = (upstreamProfile: object) => functionNamesOf({ upstreamProfile }).includes("ask-upstream");
  expect([asks({}), asks({ lookup: {} }), asks({ balance: {} })]).toEqual([false, true, true]);
});
