import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openIdentityProvider } from "../../../../tools/local/identity-provider.ts";
import { cleanups } from "../../../builders/run/cleanups.ts";

/** Goal: people of the local service stay the same ones after a restart. Method: providers on ports of this machine. */

const start = async (portFile: string) => {
  const { settings, stop } = await openIdentityProvider({ consoleOrigin: "http://127.0.0.1:4010", portFile });
  cleanups.push(stop);
  return { issuer: settings.issuer, stop };
};

test("a provider that starts again is the same issuer, and one whose port is taken another, which it stays", async () => {
  const portFile = join(mkdtempSync(join(tmpdir(), "provider-")), "port.json");
  const first = await start(portFile);
  const beside = await start(portFile);
  expect(beside.issuer).not.toBe(first.issuer);
  await beside.stop();
  cleanups.pop();
  expect((await start(portFile)).issuer).toBe(beside.issuer);
});
