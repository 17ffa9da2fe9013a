import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { routes } from "../../../../shared/contract/routes.ts";
import { mockRecord } from "../../../../shared/upstream/mock-record.ts";

/** Goal: the examples of the documents show what the sandbox returns. */
const { verifyNin, retrieveNin, verifyBvn, retrieveBvn } = routes;
test.each([
  ["NIN verification", { kind: "identity", idType: "nin", by: { number: "00000000000", mode: "basic" } }, verifyNin],
  ["NIN retrieval", { kind: "identity", idType: "nin", by: { phoneNumber: "08000000000" } }, retrieveNin],
  ["BVN verification", { kind: "identity", idType: "bvn", by: { number: "00000000000", mode: "basic" } }, verifyBvn],
  ["BVN retrieval", { kind: "identity", idType: "bvn", by: { phoneNumber: "08000000000" } }, retrieveBvn],
] as const)("the documented example of a %s is the sandbox's person", (_name, check, route) => {
  expect(mockRecord(check, "full")).toMatchObject(route.example.data.result);
});

test("the README shows the sandbox's mock person", () => {
  const { date_of_birth, first_name } = mockRecord(
    { kind: "identity", idType: "nin", by: { number: "00000000000", mode: "basic" } },
    "full",
  );
  const readme = readFileSync("README.md", "utf8");
  expect(readme).toContain(`"date_of_birth": "${date_of_birth}"`);
  expect(readme).toContain(`"first_name": "${first_name}"`);
});
