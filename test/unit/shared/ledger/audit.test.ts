import { expect, test } from "vitest";
import { detailsText } from "../../../../shared/ledger/audit.ts";

test("the details of an audit entry are sorted by name, whatever their order in the table", () => {
  expect(detailsText({ name: "x", amount: 5, id: "GTB-1" })).toBe("amount=5 id=GTB-1 name=x");
});
