import { execFile } from "node:child_process";
import { appendFileSync, chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { GetFunctionConfigurationCommand, LambdaClient } from "@aws-sdk/client-lambda";
import { expect, test } from "vitest";
import * as z from "#zod";
import type { AirtimeClient } from "../../../client/src/index.ts";
import { sleep } from "../../../shared/platform/time.ts";
import { packFolder } from "../../../tools/usage/pack-folder.ts";
import { buy, deploy, folder, newCaller, packed, scratch, stage } from "./company.ts";

/** Goal: a company loses no order by an update. */
const lambda = new LambdaClient({});

const unpack = (file: string, into: string): Promise<unknown> =>
  promisify(execFile)("tar", ["-xzf", file, "-C", into, "--strip-components=1"]);

/** The next version of the package: the same tree, with other code in each function. */
const packNext = async (): Promise<string> => {
  const copy = join(scratch, "next");
  mkdirSync(copy);
  await unpack(packed, copy);
  for (const name of readdirSync(join(copy, "built")).filter((each) => each.endsWith(".js"))) {
    appendFileSync(join(copy, "built", name), "\n// 99.0.0\n");
  }
  const manifest = join(copy, "package.json");
  writeFileSync(manifest, readFileSync(manifest, "utf8").replace(/"version": "[^"]+"/, '"version": "99.0.0"'));
  return packFolder(copy, scratch);
};

/**
 * The emulator may end a function's process in the middle of an order. As after any crash, the order is then open until
 * the upstream reports it, which nobody does for a test key; it is not lost, and not placed again.
 */
const DELIVERED_OR_OPEN = expect.stringMatching(/^(success|processing)$/);

/** Buys once, and then until `work` has ended; resolves with the service's reference of each order, by the caller's. */
const sellDuring = async (shop: AirtimeClient, name: string, work: () => Promise<unknown>) => {
  const orders = new Map<string, string>();
  const end = new AbortController();
  const sell = async (): Promise<void> => {
    do {
      const callerReference = `${name}-${orders.size}`;
      const order = await buy(shop, callerReference);
      expect(order).toMatchObject({ status: DELIVERED_OR_OPEN, callerReference });
      orders.set(callerReference, order.reference);
      await sleep(1_000);
    } while (!end.signal.aborted);
  };
  await Promise.all([sell(), work().finally(() => end.abort())]);
  return orders;
};

const codeOf = async (): Promise<string | undefined> => {
  const FunctionName = "sandbox-airtime-purchase";
  return (await lambda.send(new GetFunctionConfigurationCommand({ FunctionName }))).CodeSha256;
};

const installed = join(folder, "node_modules/airtime-data-identity-service");
const installedVersion = (): string =>
  z.object({ version: z.string() }).parse(JSON.parse(readFileSync(join(installed, "package.json"), "utf8"))).version;

/** What `npm install` does with a package of the same dependencies and files. */
const replacePackage = async (file: string): Promise<void> => {
  await unpack(file, installed);
  chmodSync(join(folder, "node_modules/.bin/airtime"), 0o755);
};

test("the package is replaced by another version and back under traffic without losing an order", async () => {
  const next = await packNext();
  const first = await codeOf();
  const { client: shop } = await newCaller(stage);
  const before = await sellDuring(shop, "before", () => Promise.resolve());
  const replace = (name: string, version: string) =>
    sellDuring(shop, name, async () => {
      await replacePackage(version);
      await deploy();
    });
  const during = await replace("update", next);
  expect(installedVersion()).toBe("99.0.0");
  expect(await codeOf()).not.toBe(first);
  const back = await replace("rollback", packed);
  expect(installedVersion()).not.toBe("99.0.0");
  expect(await codeOf()).toBe(first);

  const orders = new Map([...before, ...during, ...back]);
  expect(orders.size).toBeGreaterThan(5);
  for (const [callerReference, reference] of orders) {
    expect(await shop.transactions.get(callerReference)).toMatchObject({ status: DELIVERED_OR_OPEN, reference });
  }
  // A replay after both is still the same order.
  const [oldest] = before;
  expect((await buy(shop, oldest?.[0] ?? "")).reference).toBe(oldest?.[1]);
});
