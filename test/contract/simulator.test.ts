import { expect, test } from "vitest";
import { startSimulator } from "../../tools/simulator/server.ts";
import { contractSuite } from "./suite.ts";

const keys = { live: "live_contract", test: "test_contract" };

const untested = contractSuite({
  name: "the upstream simulator",
  scope: "interface",
  modes: ["live", "test"],
  arranges: ["account_restricted", "ip_not_whitelisted"],
  // Its keys have no permissions, nothing is cancelled, limited or refused as a duplicate, no price is expected, and instead of a 504 it closes the connection.
  omits: [
    ...(["permission_denied", "provider_timeout", "internal_error"] as const),
    ...(["order_cancelled", "price_changed", "possible_duplicate", "limit_reached"] as const),
  ],
  open: async () => {
    const { baseUrl, state, stop } = await startSimulator({ liveKey: keys.live, testKey: keys.test });
    return {
      baseUrl,
      key: async (mode) => {
        state.rates.clear();
        return keys[mode];
      },
      arrange: async (code) => {
        if (code === "account_restricted") state.restricted = true;
        else state.whitelist = [];
        return keys.test;
      },
      reset: () => {
        state.restricted = false;
        state.whitelist = ["127.0.0.1"];
      },
      close: stop,
    };
  },
});

test("every documented error of the simulator is tested, except for a catalog that was never fetched", () => {
  const lacking =
    / (permission_denied|provider_timeout|internal_error|order_cancelled|price_changed|possible_duplicate|limit_reached)$|^(verify|retrieve).* delivery_failed$/;
  expect(untested.filter((one) => !lacking.test(one))).toEqual(["listCatalog provider_unavailable"]);
});
