import { expect, test } from "vitest";
import { partField } from "../../../../../console/pages/service/part-field.ts";

test("networks can be switched off as the catalog names them, and the form says if they are missing", () => {
  const known = partField([{ id: 1, code: "mtn", name: "MTN" }]);
  expect(known.options.map(({ value }) => value)).toEqual(["mtn", "data", "airtime", "identity"]);
  expect(known).not.toHaveProperty("description");
  const unknown = partField(undefined);
  expect(unknown.options.map(({ value }) => value)).toEqual(["data", "airtime", "identity"]);
  expect(unknown).toHaveProperty("description", expect.stringContaining("Networks are missing"));
});
