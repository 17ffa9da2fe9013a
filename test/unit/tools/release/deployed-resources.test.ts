import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { releasedVersions } from "../../../../tools/release/changelog.ts";
import { type Deployed, deployedResources, updateProblems } from "../../../../tools/release/deployed-resources.ts";
import { comparedVersions, recordedRelease, versionOf } from "../../../../tools/release/releases.ts";

/** Goal: a live stage of a release can be updated to the next one, and keeps what it has. */
const deployed = deployedResources();

test("the record of a release has what keeps state, what is known outside and what has a name, of every stack", () => {
  const places = Object.keys(deployed.resources);
  expect(new Set(places.map((place) => place.split(" ")[0]))).toEqual(
    new Set(["Prod-Administrator", "Prod-Data", "Prod-Network", "Prod-Recovery", "Prod-Service"]),
  );
  const types = Object.values(deployed.resources).map(({ type }) => type);
  const numberOf = (type: string): number => types.filter((each) => each === type).length;
  expect({
    tables: numberOf("AWS::DynamoDB::Table"),
    addresses: numberOf("AWS::EC2::EIP"),
    queues: numberOf("AWS::SQS::Queue"),
    callersApis: numberOf("AWS::ApiGateway::RestApi"),
  }).toEqual({ tables: 4, addresses: 3, queues: 6, callersApis: 2 });
  expect(Object.values(deployed.resources)).toContainEqual({
    type: "AWS::Lambda::Function",
    name: "prod-airtime-purchase",
  });
  expect(deployed.imports.length).toBeGreaterThan(0);
  expect(deployed.imports.filter((name) => !deployed.exports.includes(name))).toEqual([]);
});

// With nothing before the first release.
test("a live stage of the last release can be updated to this tree", () => {
  const versions = comparedVersions(versionOf("package.json"), releasedVersions(readFileSync("CHANGELOG.md", "utf8")));
  for (const version of versions) {
    expect(updateProblems(recordedRelease(version).deployed, deployed), version).toEqual([]);
  }
});

const before: Deployed = {
  resources: {
    "Prod-Data Ledger1": { type: "AWS::DynamoDB::Table" },
    "Prod-Service Purchase1": { type: "AWS::Lambda::Function", name: "prod-airtime-purchase" },
  },
  indexes: { "Prod-Data Ledger1": { by_list: "list", by_open: "open" } },
  exports: ["Prod-Data:Ledger1", "Prod-Data:Kept"],
  imports: ["Prod-Data:Ledger1"],
};

test.each<[string, Deployed, readonly string[]]>([
  [
    "another table in the place of the present one",
    { ...before, resources: { "Prod-Data Ledger2": { type: "AWS::DynamoDB::Table" } } },
    ["Prod-Data Ledger1 (AWS::DynamoDB::Table) would be deleted, and Prod-Data Ledger2 be made in its place"],
  ],
  [
    "a function under the name of another one",
    {
      ...before,
      resources: {
        "Prod-Data Ledger1": { type: "AWS::DynamoDB::Table" },
        "Prod-Service Purchase2": { type: "AWS::Lambda::Function", name: "prod-airtime-purchase" },
      },
    },
    [
      "Prod-Service Purchase2 (AWS::Lambda::Function) cannot be made while Prod-Service Purchase1 has its name, prod-airtime-purchase",
    ],
  ],
  [
    "another definition of an index",
    { ...before, indexes: { "Prod-Data Ledger1": { by_list: "other", by_open: "open" } } },
    ["Prod-Data Ledger1: the index by_list cannot change. Make another one"],
  ],
  [
    "two indexes that are made and deleted",
    { ...before, indexes: { "Prod-Data Ledger1": { by_list: "list", by_turn: "turn" } } },
    ["Prod-Data Ledger1: one index is made or deleted in an update, not by_open, by_turn"],
  ],
  [
    "no export that a live stage imports",
    { ...before, exports: [], imports: [] },
    ["Prod-Data:Ledger1 is imported by a live stage: keep it for a release, with exportValue of its stack"],
  ],
])("a release cannot have %s", (_what, after, problems) => {
  expect(updateProblems(before, after)).toEqual(problems);
});

test("a release may add resources and one index, and remove a function and an export that nothing imports", () => {
  const after: Deployed = {
    resources: {
      "Prod-Data Ledger1": { type: "AWS::DynamoDB::Table" },
      "Prod-Data Other1": { type: "AWS::DynamoDB::Table" },
      "Prod-Service Other1": { type: "AWS::Lambda::Function", name: "prod-airtime-other" },
    },
    indexes: { "Prod-Data Ledger1": { by_list: "list", by_open: "open", by_turn: "turn" }, "Prod-Data Other1": {} },
    exports: ["Prod-Data:Ledger1"],
    imports: [],
  };
  expect(updateProblems(before, after)).toEqual([]);
});
