import { expect, test } from "vitest";
import { startSimulator } from "../../tools/simulator/server.ts";
import { contractSuite } from "./suite.ts";

const keys = { live: "live_contract", test: "test_contract" };

const unasked = contractSuite({
  name: "the upstream simulator",
  promises: "interface",
  modes: ["live", "test"],
  arranges: ["account_restricted", "ip_not_whitelisted"],
  // Its keys have no permissions, and instead of a 504 it hangs up.
  lacks: ["permission_denied", "provider_timeout", "internal_error"],
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
      relent: () => {
        state.restricted = false;
        state.whitelist = ["127.0.0.1"];
      },
      close: stop,
    };
  },
});

test("the simulator is asked for every documented error that it has, but for a catalog that was never fetched", () => {
  const lacking = / (permission_denied|provider_timeout|internal_error)$|^(verify|retrieve).* delivery_failed$/;
  expect(unasked.filter((one) => !lacking.test(one))).toEqual(["listCatalog provider_unavailable"]);
});
