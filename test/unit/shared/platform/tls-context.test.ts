import { expect, test } from "vitest";
import { tlsContext } from "../../../../shared/platform/tls-context.ts";

test("all connections of a process have one TLS context", () => {
  expect(tlsContext()).toBe(tlsContext());
});
