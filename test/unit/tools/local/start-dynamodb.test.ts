import { expect, test } from "vitest";
import { nothingToStart } from "../../../../tools/local/start-dynamodb.ts";

test.each([
  ["linux", /apt-get install openjdk-17-jre-headless maven/],
  ["darwin", /brew install maven/],
  ["win32", /Windows Subsystem for Linux/],
  ["freebsd", /install Java and Maven/],
] as const)("a machine of %s that can run no DynamoDB gets one sentence on what to install", (platform, easiest) => {
  const sentence = nothingToStart(platform, "arm64", "it needs Java 17 or newer, and there is no java on this machine");
  expect(sentence).toContain(`no dynoxide for ${platform}-arm64`);
  expect(sentence).toContain("there is no java on this machine");
  expect(sentence).toMatch(easiest);
});
