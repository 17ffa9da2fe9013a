import { afterEach, expect, test, vi } from "vitest";
import { readEnv } from "../../../../shared/platform/env.ts";

afterEach(() => vi.unstubAllEnvs());

test("a function gets the variables of its spec, parsed, and a default where there is one", () => {
  vi.stubEnv("AIRTIME_NAIRA_MAX", "50000");
  vi.stubEnv("UPSTREAM_KEY_SECRET_ID", "upstream-key");
  vi.stubEnv("AWS_CALLS", undefined);
  expect(readEnv(["AIRTIME_NAIRA_MAX", "UPSTREAM_KEY_SECRET_ID", "AWS_CALLS"])).toEqual({
    AIRTIME_NAIRA_MAX: 50_000,
    UPSTREAM_KEY_SECRET_ID: "upstream-key",
    AWS_CALLS: "short",
  });
});

test("an environment that is not complete names each variable that is missing or malformed", () => {
  vi.stubEnv("LEDGER_TABLE", undefined);
  vi.stubEnv("REFERENCE_KEY_SECRET_ID", "");
  vi.stubEnv("WORKERS", "perhaps");
  const read = () => readEnv(["LEDGER_TABLE", "REFERENCE_KEY_SECRET_ID", "WORKERS"]);
  for (const name of ["not complete", "LEDGER_TABLE", "REFERENCE_KEY_SECRET_ID", "WORKERS"]) expect(read).toThrow(name);
});
