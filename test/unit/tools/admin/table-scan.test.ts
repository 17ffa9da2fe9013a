import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocument, ScanCommand } from "@aws-sdk/lib-dynamodb";
import { expect, test, vi } from "vitest";
import { scanTable } from "../../../../tools/admin/table-scan.ts";

test("a scan whose segment failed reads no other page, and ends once what was begun has ended", async () => {
  const db = DynamoDBDocument.from(new DynamoDBClient({ region: "us-east-1" }));
  const pages: unknown[] = [];
  vi.spyOn(db, "send").mockImplementation(async (command: unknown) => {
    const { Segment, ExclusiveStartKey } = command instanceof ScanCommand ? command.input : {};
    pages.push([Segment, ExclusiveStartKey?.pk]);
    if (Segment === 0) throw new Error("Access denied");
    return { Items: [{ pk: `item#${Segment}` }], LastEvaluatedKey: { pk: `item#${Segment}` } };
  });
  const written: string[] = [];
  const begun = Promise.withResolvers<void>();
  const mayWrite = Promise.withResolvers<void>();
  const onPage = async (items: readonly { readonly pk: string }[]): Promise<void> => {
    begun.resolve();
    await mayWrite.promise;
    written.push(...items.map(({ pk }) => pk));
  };
  const scan = scanTable(db, "ledger", { onPage, logProgress: () => {} }).catch(() => [...written]);
  await begun.promise;
  // The failure of the first segment has been handled.
  await new Promise((turn) => setImmediate(turn));
  mayWrite.resolve();
  const others = [1, 2, 3, 4, 5, 6, 7];
  expect(await scan).toEqual(others.map((segment) => `item#${segment}`));
  expect(pages).toEqual([0, ...others].map((segment) => [segment, undefined]));
});
