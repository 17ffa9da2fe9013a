import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocument, GetCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import { expect, test, vi } from "vitest";
import { sleep } from "../../../../shared/platform/time.ts";
import { dynoxideBinary, startDynoxide } from "../../../../tools/local/dynoxide.ts";
import { endOrphan, startEmulator } from "../../../../tools/local/emulator.ts";
import { localClient } from "../../../../tools/local/local-aws.ts";
import { createTables, localTableNames } from "../../../../tools/local/tables.ts";
import { cleanups, temporaryFolder } from "../../../builders/run/cleanups.ts";

test("tables and items survive a kill -9 of the database, and creating the tables again changes nothing", async () => {
  const folder = temporaryFolder();
  const files = { databaseFile: join(folder, "tables.db"), pidFile: join(folder, "pid"), logFile: join(folder, "log") };
  const first = await startDynoxide(files);
  await createTables(first.endpoint);
  const write = new PutCommand({
    TableName: localTableNames.ledger,
    Item: { pk: "stored", list_key: "o", created_at: "now" },
  });
  await DynamoDBDocument.from(new DynamoDBClient(localClient(first.endpoint))).send(write);
  if (first.pid !== undefined) process.kill(first.pid, "SIGKILL");
  await first.exited;
  await first.stop();

  const second = await startDynoxide(files);
  cleanups.push(second.stop);
  await createTables(second.endpoint);
  const read = new GetCommand({ TableName: localTableNames.ledger, Key: { pk: "stored" } });
  const { Item } = await DynamoDBDocument.from(new DynamoDBClient(localClient(second.endpoint))).send(read);
  expect(Item?.list_key).toBe("o");
});

test("an orphaned emulator is killed only if its command line names the same tables", async () => {
  const folder = temporaryFolder();
  const files = { databaseFile: join(folder, "tables.db"), pidFile: join(folder, "pid"), logFile: join(folder, "log") };
  const database = await startDynoxide(files);
  cleanups.push(database.stop);
  await endOrphan({ store: join(folder, "other.db"), pidFile: files.pidFile });
  expect(readFileSync(`/proc/${database.pid}/cmdline`, "utf8")).toContain("dynoxide");

  writeFileSync(files.pidFile, String(database.pid));
  await endOrphan({ store: files.databaseFile, pidFile: files.pidFile });
  await database.exited;
  expect(existsSync(`/proc/${database.pid}`)).toBe(false);
});

/** An emulator that ends at once the first times, as one does whose port another process took. */
const startEndingTimes = async (times: number) => {
  const folder = temporaryFolder();
  const ports: number[] = [];
  const database = await startEmulator({
    name: "dynoxide",
    program: dynoxideBinary(),
    args: (port) => (ports.push(port) > times ? ["--host", "127.0.0.1", "--port", String(port)] : ["--no-such-option"]),
    files: { pidFile: join(folder, "pid"), logFile: join(folder, "log") },
  });
  cleanups.push(database.stop);
  return { database, ports };
};

test("another port is tried if the emulator ends at once, at most two more", async () => {
  const { database, ports } = await startEndingTimes(2);
  expect(new URL(database.endpoint).port).toBe(String(ports[2]));
  await createTables(database.endpoint);
  // The program that ended is not asked any more whether it is ready.
  const asked = vi.fn();
  const atFormerPort = createServer(asked);
  // Another process may have taken the port.
  atFormerPort.on("error", () => undefined).listen(ports[0], "127.0.0.1");
  cleanups.push(() => atFormerPort.close());
  await sleep(200);
  expect(asked).not.toHaveBeenCalled();
  await expect(startEndingTimes(3)).rejects.toThrow("The local DynamoDB (dynoxide) did not start: see ");
});
