import { expect, test } from "vitest";
import { containerArgs } from "../../../../tools/local/dynamodb-container.ts";
import { nothingToStart } from "../../../../tools/local/start-dynamodb.ts";

test.each([
  ["linux", /apt-get install openjdk-17-jre-headless maven/],
  ["darwin", /brew install maven/],
  ["win32", /Windows Subsystem for Linux/],
  ["freebsd", /start Docker/],
] as const)("a machine of %s that can run no DynamoDB gets one sentence on what to install", (platform, easiest) => {
  const sentence = nothingToStart(platform, "arm64", "it needs Java 17 or newer, and there is no java on this machine");
  expect(sentence).toContain(`no dynoxide for ${platform}-arm64`);
  expect(sentence).toContain("there is no java on this machine");
  expect(sentence).toMatch(easiest);
});

test("the container serves on loopback only, and keeps its tables in the folder of the data", () => {
  const args = containerArgs({ name: "tables", port: 8123, databaseFolder: "/data/dynamodb-local" });
  expect(args).toContain("127.0.0.1:8123:8000");
  expect(args).toContain("/data/dynamodb-local:/tables");
  expect(args.slice(-3)).toEqual(["-sharedDb", "-dbPath", "/tables"]);
});
