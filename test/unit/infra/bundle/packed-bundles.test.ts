import { expect, test } from "vitest";
import * as built from "../../../../infra/bundle/bundles.ts";
import * as packed from "../../../../infra/bundle/packed-bundles.ts";

test("the package reads everything that this tree builds, under the same names", () => {
  for (const name of Object.keys(built)) expect(packed).toHaveProperty(name, expect.any(Function));
});
