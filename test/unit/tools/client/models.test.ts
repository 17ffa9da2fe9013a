import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { goModels } from "../../../../tools/client/go-models.ts";
import { javaModels } from "../../../../tools/client/java-models.ts";
import { phpModels } from "../../../../tools/client/php-models.ts";
import { pythonModels } from "../../../../tools/client/python-models.ts";
import { readSchemas } from "../../../../tools/client/schemas.ts";

const read = (path: string): string => readFileSync(new URL(`../../../../${path}`, import.meta.url), "utf8");
const document = read("docs/openapi.json");

test("the Python client's models are those that npm run openapi writes", () => {
  expect(read("clients/python/src/airtime_service/models.py")).toBe(pythonModels(document));
});

test("the PHP client's models are those that npm run openapi writes, and no other file is beside them", () => {
  const folder = "clients/php/src/Model";
  const committed = readdirSync(new URL(`../../../../${folder}`, import.meta.url));
  expect(new Map(committed.map((name) => [name, read(`${folder}/${name}`)]))).toEqual(phpModels(document));
});

test("the Go client's models are those that npm run openapi writes", () => {
  expect(read("clients/go/models.go")).toBe(goModels(document));
});

test("the Java client's models are those that npm run openapi writes", () => {
  expect(read("clients/java/src/main/java/airtime/Models.java")).toBe(javaModels(document));
});

test("a schema that the models cannot have is refused with its name", () => {
  const schemas = { Odd: { type: "object", properties: { field: { type: "string" }, odd: { not: {} } } } };
  const odd = JSON.stringify({ components: { schemas }, webhooks: {} });
  expect(() => readSchemas(odd)).toThrow("OddOdd has a type that the models cannot have");
});

test("an optional reference is no field of a request, and a required one is", () => {
  const fields = new Map(
    readSchemas(document).models.map(({ name, fields }) => [name, fields.map((field) => field.name)]),
  );
  expect(fields.get("DataPurchaseRequest")).not.toContain("reference");
  expect(fields.get("CancelRequest")).toContain("reference");
});
