import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { goModels } from "../../../../tools/client/go-models.ts";
import { javaModels } from "../../../../tools/client/java-models.ts";
import { readOperations } from "../../../../tools/client/operations.ts";
import { phpModels } from "../../../../tools/client/php-models.ts";
import { phpOperations } from "../../../../tools/client/php-operations.ts";
import { pythonModels } from "../../../../tools/client/python-models.ts";
import { pythonOperations } from "../../../../tools/client/python-operations.ts";
import { readSchemas } from "../../../../tools/client/schemas.ts";

const read = (path: string): string => readFileSync(new URL(`../../../../${path}`, import.meta.url), "utf8");
const document = read("docs/openapi.json");

test.each([
  ["clients/python/src/airtime_service/models.py", pythonModels],
  ["clients/python/src/airtime_service/_operations.py", pythonOperations],
  ["clients/php/src/Client.php", phpOperations],
  ["clients/go/models.go", goModels],
  ["clients/java/src/main/java/airtime/Models.java", javaModels],
])("%s is what npm run openapi writes", (path, write) => {
  expect(read(path)).toBe(write(document));
});

test("the PHP client's models are those that npm run openapi writes, and no other file is beside them", () => {
  const folder = "clients/php/src/Model";
  const committed = readdirSync(new URL(`../../../../${folder}`, import.meta.url));
  expect(new Map(committed.map((name) => [name, read(`${folder}/${name}`)]))).toEqual(phpModels(document));
});

test("a schema that the models cannot have is refused with its name", () => {
  const schemas = { Odd: { type: "object", properties: { field: { type: "string" }, odd: {} } } };
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

test("each operation that makes a transaction is an order of its type, and no other operation is one", () => {
  const { operations } = readOperations(document, readSchemas(document).models);
  expect(Object.fromEntries(operations.map(({ name, orderType }) => [name, orderType]))).toEqual({
    listCatalog: undefined,
    buyData: "data",
    buyAirtime: "airtime",
    verifyNin: "nin_verification",
    retrieveNin: "nin_retrieval",
    verifyBvn: "bvn_verification",
    retrieveBvn: "bvn_retrieval",
    getWallet: undefined,
    getTransaction: undefined,
    listTransactions: undefined,
    cancelOrder: undefined,
  });
});

test.each(["clients/go/client.go", "clients/java/src/main/java/airtime/AirtimeClient.java"])(
  "%s calls each operation",
  (client) => {
    const text = read(client);
    const { operations } = readOperations(document, readSchemas(document).models);
    // A path is followed by a reference or a query, or is the whole text.
    const isCalled = (path: string): boolean => new RegExp(`"${path.replace("{reference}", "")}[?]?"`).test(text);
    expect(operations.map(({ path }) => path).filter((path) => !isCalled(path))).toEqual([]);
  },
);

test("an order's model has what is in the headers of its answer, and that of a lookup has not", () => {
  const { models } = readOperations(document, readSchemas(document).models);
  const fields = new Map(models.map((model) => [model.name, model.fields.map(({ name }) => name)]));
  expect(fields.get("Purchase")).toEqual(["transaction", "replayed", "estimated_delivery_s"]);
  expect(fields.get("NinVerification")).toEqual(["transaction", "result", "replayed"]);
  expect(fields.get("TransactionLookup")).toEqual(["transaction"]);
});

test("a Java record says what its fields mean where Javadoc reads it", () => {
  const text = javaModels(document);
  expect(text).toContain("   * @param dateOfBirth {@code YYYY-MM-DD}, or empty.\n");
  expect(text).not.toMatch(/\/\*[^*]/);
});
