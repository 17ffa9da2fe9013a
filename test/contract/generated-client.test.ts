import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { generateSource } from "oazapfts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestService, type TestService } from "../builders/service.ts";

/** In the repository, so that the client finds its runtime in node_modules. */
const generated = fileURLToPath(new URL("../../.local/generated/", import.meta.url));
const run = promisify(execFile);
const tsc = fileURLToPath(new URL("../../node_modules/.bin/tsc", import.meta.url));

let service: TestService;
let folder: string;
beforeAll(async () => {
  service = await startTestService();
  mkdirSync(generated, { recursive: true });
  folder = mkdtempSync(join(generated, "client-"));
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await service.stop();
});

/** An app that uses the generated client: wrong names or types do not compile. */
const APP = `
import { buyAirtime, defaults, getTransaction, getWallet, verifyNin } from "./client.ts";

defaults.baseUrl = process.env.BASE_URL ?? "";
defaults.headers = { Authorization: \`Bearer \${process.env.API_KEY}\` };

const bought = await buyAirtime({ network: "mtn", amount: 500, phone_number: "08031234567", reference: "app-1" });
if (bought.status !== 200) throw new Error(JSON.stringify(bought));
const again = await buyAirtime({ network: "mtn", amount: 500, phone_number: "08031234567" }, { idempotencyKey: "app-1" });
const checked = await verifyNin({ nin: "00000000000", is_consent: true, mode: "basic" });
if (checked.status !== 200) throw new Error(JSON.stringify(checked));
const lookedUp = await getTransaction(bought.data.data.transaction.reference);
const refused = await verifyNin({ nin: "0000", is_consent: true });
const wallet = await getWallet();
if (lookedUp.status !== 200 || wallet.status !== 200) throw new Error("A lookup failed");

const born: string | undefined = checked.data.data.result?.date_of_birth;
console.log(JSON.stringify({
  transaction: bought.data.data.transaction,
  again: again.status === 200 && again.data.data.transaction,
  check: checked.data.data.transaction,
  born,
  lookedUp: lookedUp.data.data.transaction.type,
  refused: refused.status === 422 && refused.data.errors,
  balance: wallet.data.data.wallet.balance,
}));
`;

const TSCONFIG = {
  extends: "../../../tsconfig.json",
  compilerOptions: { exactOptionalPropertyTypes: false, noUnusedLocals: false },
  include: ["*.ts"],
};

test("a client generated from the served document compiles in strict TypeScript, buys airtime and verifies a NIN", async () => {
  const caller = await service.newCaller({ naira: 1_000 });
  writeFileSync(join(folder, "client.ts"), await generateSource(`${service.baseUrl}/openapi.json`));
  writeFileSync(join(folder, "app.ts"), APP);
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(TSCONFIG));

  await run(tsc, ["-p", folder]).catch(({ stdout }) => expect(stdout).toBe(""));
  const env = { ...process.env, BASE_URL: service.baseUrl, API_KEY: caller.key };
  const { stdout } = await run(process.execPath, [join(folder, "app.ts")], { env });

  const transaction = {
    status: "success",
    amount: 500,
    description: "MTN airtime for 08031234567",
    type: "airtime",
    caller_reference: "app-1",
    phone_number: "08031234567",
  };
  expect(JSON.parse(stdout)).toEqual({
    transaction: { ...transaction, reference: expect.stringMatching(/^AIRTIME_/) },
    again: JSON.parse(stdout).transaction,
    check: {
      title: "NIN Verification",
      amount: 150,
      reference: expect.stringMatching(/^VERIFY_/),
      status: "success",
      type: "nin_verification",
      caller_reference: null,
    },
    born: expect.stringMatching(/^\d{4}-\d{2}-\d{2}$/),
    lookedUp: "airtime",
    refused: { nin: ["Must be exactly 11 digits"] },
    balance: 350,
  });
  expect(service.simulator.state.purchases.map(({ type }) => type)).toEqual(["airtime", "nin_verification"]);
});

test("the same app with a misspelt field does not compile", async () => {
  writeFileSync(join(folder, "app.ts"), APP.replace("is_consent: true, mode", "is_consent: true, mood"));
  await expect(run(tsc, ["-p", folder])).rejects.toMatchObject({ stdout: expect.stringContaining("'mood'") });
});
