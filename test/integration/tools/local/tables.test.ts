import { join } from "node:path";
import { CreateTableCommand } from "@aws-sdk/client-dynamodb";
import { expect, test } from "vitest";
import { tables } from "../../../../infra/tables.ts";
import { ledgerIndexes } from "../../../../shared/ledger/schema.ts";
import { startDynoxide } from "../../../../tools/local/dynoxide.ts";
import { createTables, localTableNames, tableDefinition } from "../../../../tools/local/tables.ts";
import { emulatorClientAt } from "../../../builders/dynamodb/emulator-client.ts";
import { cleanups, temporaryFolder } from "../../../builders/run/cleanups.ts";

const anEmulator = async (): Promise<string> => {
  const folder = temporaryFolder();
  const emulator = await startDynoxide({ pidFile: join(folder, "pid"), logFile: join(folder, "log") });
  cleanups.push(emulator.stop);
  return emulator.endpoint;
};

test("tables of this version are used again", async () => {
  const endpoint = await anEmulator();
  await createTables(endpoint);
  await expect(createTables(endpoint)).resolves.toBeUndefined();
});

test("a table whose index lacks an attribute is refused with what to do", async () => {
  const endpoint = await anEmulator();
  const db = emulatorClientAt(endpoint);
  cleanups.push(() => db.destroy());
  const { byList } = ledgerIndexes;
  const indexes = tables.ledger.indexes.map((index) => (index === byList ? { ...byList, includes: ["type"] } : index));
  const definition = tableDefinition(localTableNames.ledger, { ...tables.ledger, indexes });
  await db.send(new CreateTableCommand(definition));
  await expect(createTables(endpoint)).rejects.toThrow(
    `The table ${localTableNames.ledger} was created by another version, or while the disk was full: npm start -- --fresh deletes the local data, and starts with none.`,
  );
});
