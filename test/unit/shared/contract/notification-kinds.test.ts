import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { notificationTitles } from "../../../../shared/contract/notification-kinds.ts";

test("docs/console.md says of each notification when it is sent, and to whom", () => {
  const [, section = ""] = readFileSync("docs/console.md", "utf8").split("\n## Notifications\n");
  expect(Object.values(notificationTitles).filter((title) => !section.includes(`\n| ${title} |`))).toEqual([]);
});
