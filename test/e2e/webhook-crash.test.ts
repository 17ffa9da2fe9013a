import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import * as z from "#zod";
import { readTransaction } from "../../shared/ledger/find-transactions.ts";
import { settleTransaction } from "../../shared/ledger/settle-transaction.ts";
import { pkOfReference } from "../../shared/ledger/transaction.ts";
import { deadlineIn } from "../../shared/platform/deadline.ts";
import { parseIpRanges } from "../../shared/platform/ip-range.ts";
import { systemClock } from "../../shared/platform/time.ts";
import { systemResolve } from "../../shared/webhooks/address-guard.ts";
import { setEndpoint } from "../../shared/webhooks/endpoint.ts";
import { startDynoxide } from "../../tools/local/dynamodb.ts";
import type { ServiceDetails } from "../../tools/local/service-file.ts";
import { localTableNames } from "../../tools/local/tables.ts";
import { cleanups, temporaryFolder } from "../builders/cleanups.ts";
import { eventually } from "../builders/eventually.ts";
import { standardHeaders, startReceiver } from "../builders/receiver.ts";
import { emulatorClient } from "../builders/tables.ts";

/**
 * Goal: no crash loses a webhook. Method: `npm start` is killed with SIGKILL before the enqueue and during the
 * delivery.
 */
const isUsed = (folder: string): boolean =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .some((pid) => existsSync(`/proc/${pid}/cmdline`) && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(folder));

/** Starts the service with its data in the folder; resolves once it is ready. */
const start = async (folder: string) => {
  const serviceFile = join(folder, "service.json");
  rmSync(serviceFile, { force: true });
  const child = spawn(process.execPath, ["tools/local/start.ts"], {
    env: { ...process.env, PORT: "0", DATA_DIR: join(folder, "data"), SERVICE_FILE: serviceFile },
    stdio: "ignore",
  });
  const exit = once(child, "exit");
  const kill = async (): Promise<void> => {
    child.kill("SIGKILL");
    await exit;
    await eventually(() => expect(isUsed(folder)).toBe(false));
  };
  cleanups.push(kill);
  await eventually(() => expect(existsSync(serviceFile)).toBe(true));
  const details: ServiceDetails = JSON.parse(readFileSync(serviceFile, "utf8"));
  return { details, kill };
};

const purchase = z.object({ data: z.object({ transaction: z.object({ reference: z.string(), status: z.string() }) }) });

test("a webhook is delivered with the same id and body after a kill before its enqueue and another during its delivery", async () => {
  const folder = temporaryFolder();
  const receiver = await startReceiver((response, count) => {
    // The first delivery gets no response, so that the kill comes during it.
    if (count > 1) response.end("ok");
  });
  cleanups.push(receiver.stop);

  const first = await start(folder);
  const [account] = first.details.accounts;
  const response = await fetch(`${first.details.base_url}/vtu/data/purchase`, {
    method: "POST",
    headers: { authorization: `Bearer ${account?.live_key}`, "content-type": "application/json" },
    body: JSON.stringify({ network_id: 1, plan_id: 101, phone_number: "08000000004", reference: "crash" }),
  });
  const { reference, status } = purchase.parse(await response.json()).data.transaction;
  expect(status).toBe("processing");
  await first.kill();

  await settleWhileStopped(folder, account?.account_id ?? "", reference, receiver.url);
  const second = await start(folder);
  await eventually(() => expect(receiver.received).toHaveLength(1));
  await second.kill();

  const third = await start(folder);
  await eventually(() => expect(receiver.received).toHaveLength(2));
  const [one, other] = receiver.received;
  expect([other?.headers.id, other?.body]).toEqual([one?.headers.id, one?.body]);
  const secret = third.details.accounts[0]?.webhook_secret ?? "";
  expect(other && new Webhook(secret).verify(other.body, standardHeaders(other))).toMatchObject({
    data: { reference, status: "success" },
  });
});

/** Settles the transaction while no service runs, as if it had been killed right after this write. */
const settleWhileStopped = async (folder: string, accountId: string, reference: string, url: string): Promise<void> => {
  const files = {
    databaseFile: join(folder, "data/tables.db"),
    pidFile: join(folder, "pid"),
    logFile: join(folder, "log"),
  };
  const dynamodb = await startDynoxide(files);
  const db = emulatorClient(dynamodb.endpoint);
  const secrets = z
    .object({ "webhook-key": z.string() })
    .parse(JSON.parse(readFileSync(join(folder, "data/secrets.json"), "utf8")));
  const value = async () => secrets["webhook-key"];
  const accounts = { db, ledgerTable: localTableNames.ledger };
  const rules = { allowed: parseIpRanges("127.0.0.0/8"), refusedHosts: [], resolve: systemResolve };
  await setEndpoint(
    { accounts, webhookSealingKey: { value, refetch: value }, clock: systemClock },
    rules,
    accountId,
    url,
  );
  const ledger = { db, table: localTableNames.ledger, clock: systemClock };
  const transaction = await readTransaction(ledger, pkOfReference(reference) ?? "");
  expect(
    transaction && (await settleTransaction(ledger, transaction, { status: "success" }, deadlineIn(10_000))).kind,
  ).toBe("applied");
  await dynamodb.stop();
};
