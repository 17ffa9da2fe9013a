import { expect, test } from "vitest";
import { openIdentityProvider } from "../../../../tools/local/identity-provider.ts";
import { cleanups } from "../../../builders/run/cleanups.ts";

/** Goal: people of the local service stay the same ones after a restart. Method: providers on ports of this machine. */

const aProvider = async (port: number) => {
  const provider = await openIdentityProvider({ consoleOrigin: "http://127.0.0.1:4010", port });
  cleanups.push(provider.stop);
  const { issuer } = provider.settings;
  return { issuer, port: Number(new URL(issuer).port), stop: provider.stop };
};

test("a provider that starts again on its port is the same issuer, and one whose port is taken has another", async () => {
  const first = await aProvider(0);
  const beside = await aProvider(first.port);
  expect(beside.issuer).not.toBe(first.issuer);
  const { port, issuer } = beside;
  await beside.stop();
  cleanups.pop();
  expect((await aProvider(port)).issuer).toBe(issuer);
});
