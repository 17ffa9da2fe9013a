import { expect, test } from "vitest";
import { eventText } from "../../../../../console/components/values/event-text.ts";

test("an event is called in words, and one of another release by its own name", () => {
  expect(eventText("wallet.low")).toBe("Wallet low");
  expect(eventText("wallet.high")).toBe("wallet.high");
});
