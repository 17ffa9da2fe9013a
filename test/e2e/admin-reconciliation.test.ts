import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as z from "#zod";
import { readTransaction } from "../../shared/ledger/find-transactions.ts";
import { itemKindOf } from "../../shared/ledger/schema.ts";
import { pkOfReference } from "../../shared/ledger/transaction.ts";
import { type OperatedService, runCommand, startOperatedService } from "../builders/admin.ts";

/**
 * Goal: a finance person compares the upstream's statement of a day with the books, decides what differs, signs the day
 * off and gives the export to a stranger; no step changes a wallet or an order.
 */
let service: OperatedService;
beforeAll(async () => {
  service = await startOperatedService();
});
afterAll(() => service.stop());

const day = new Intl.DateTimeFormat("en-CA", { timeZone: "Africa/Lagos" }).format(new Date());
const heading = "reference,caller_reference,type,phone_number,amount,status,created_at";

const cells = async (reference: string): Promise<readonly string[]> => {
  const order = await readTransaction(service.ledger, pkOfReference(reference) ?? "");
  if (order === undefined) throw new Error(`${reference} is not in the ledger`);
  const { upstream_reference = "", type, phone_number = "", amount_kobo, status, created_at } = order;
  return [upstream_reference, reference, type, phone_number, String(amount_kobo / 100), status, created_at];
};
const changed = (row: readonly string[], column: number, value: string): readonly string[] => row.with(column, value);

const file = (name: string, rows: readonly (readonly string[])[]): string => {
  const path = join(service.folder, name);
  writeFileSync(path, [heading, ...rows.map((row) => row.join(","))].join("\n"));
  return path;
};

const MONEY = ["wallet", "transaction", "funding", "adjustment", "refund", "upstream-reference"];
/** Everything in the ledger that is about money. */
const money = async (): Promise<readonly unknown[]> => {
  const { Items = [] } = await service.ledger.db.scan({ TableName: service.ledger.table });
  return Items.filter(({ pk }) => MONEY.includes(itemKindOf(String(pk)) ?? "")).toSorted((one, other) =>
    String(one.pk).localeCompare(String(other.pk)),
  );
};

const cases = z.object({
  cases: z.array(z.object({ case: z.string(), class: z.string(), state: z.string(), decisions: z.array(z.unknown()) })),
});
const listed = async (): Promise<readonly string[]> =>
  cases
    .parse(await service.adminJson(["reconciliation", "cases", "list", day]))
    .cases.map(({ case: id, class: name, state }) => `${name} ${id.startsWith("row-") ? "row" : id} ${state}`)
    .toSorted();

const reconciliation = (...args: readonly string[]) => service.admin(["reconciliation", ...args, "--by", "bola"]);

test("a day is imported in two files, compared, decided, signed off, exported and verified, and no money moves", async () => {
  const { key } = await service.newApp();
  const bought: string[] = [];
  for (const phone of ["08031234567", "08031234568", "08031234569", "08000000004"]) {
    bought.push((await service.buy(key, phone)).reference);
  }
  const [right = "", cheap = "", missing = "", open = ""] = bought;
  const before = await money();
  const [own, other] = [await cells(right), await cells(cheap)];
  const stranger = [...changed(own, 0, "UP-stranger")].with(1, "").with(3, "08031234599");
  const first = file("first.csv", [own, changed(other, 4, "480.50"), stranger]);
  const second = file("second.csv", [own, changed(await cells(open), 5, "success"), changed(own, 0, "UP-again")]);

  const imported = await reconciliation("import", first, "--day", day);
  expect(imported).toMatchObject({ code: 1, stdout: expect.stringContaining("3 rows: 3 stored now, 0 stored before") });
  expect(await listed()).toEqual(
    [
      `amount_differs ${cheap} open`,
      `only_ours ${missing} open`,
      `only_ours ${open} open`,
      "only_theirs row open",
    ].toSorted(),
  );

  await reconciliation("import", second, "--day", day);
  const afterBoth = [
    `amount_differs ${cheap} open`,
    "charged_twice row open",
    `only_ours ${missing} open`,
    "only_theirs row open",
    `status_contradicts ${open} open`,
  ].toSorted();
  expect(await listed()).toEqual(afterBoth);
  const again = await reconciliation("import", second, "--day", day);
  expect(again.stdout).toContain("3 rows: 0 stored now, 3 stored before");
  expect(await listed()).toEqual(afterBoth);

  const refused = await reconciliation("statements", "sign", day, "--why", "Too early");
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("has open cases: 5") });
  const unresolved = await reconciliation("cases", "decide", day, open, "resolved", "--why", "Not yet");
  expect(unresolved).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("is still processing: resolve it first"),
  });
  const all = cases.parse(await service.adminJson(["reconciliation", "cases", "list", day])).cases;
  for (const { case: id } of all) {
    const decided = await reconciliation("cases", "decide", day, id, "disputed", "--why", "Mail to the upstream");
    expect(decided.code).toBe(0);
  }
  expect((await reconciliation("import", first, "--day", day)).code).toBe(0);
  expect(await money()).toEqual(before);

  const early = await reconciliation("export", day);
  expect(early).toMatchObject({ code: 2, stderr: expect.stringContaining("is not signed off") });
  expect((await reconciliation("statements", "sign", day, "--why", "All is disputed")).code).toBe(0);
  for (const late of [
    ["import", file("third.csv", [own]), "--day", day],
    ["cases", "decide", day, cheap, "explained", "--why", "Too late"],
  ]) {
    expect(await reconciliation(...late)).toMatchObject({ code: 2, stderr: expect.stringContaining("is signed off") });
  }

  const { stdout: pack } = await reconciliation("export", day);
  expect(pack.trimEnd().split("\n")).toHaveLength(7);
  for (const phone of ["08031234567", "08031234599"]) expect(pack).not.toContain(phone);
  const verify = (text: string) => service.admin(["reconciliation", "verify"], text);
  expect(await verify(pack)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("the file that Command line (says: bola) exported"),
  });
  const forged = await verify(pack.replace("Mail to the upstream", "Mail to nobody"));
  expect(forged).toMatchObject({ code: 1, stdout: "Line 2 is wrong: it was changed.\n" });
  const offline = await runCommand(["reconciliation", "verify"], { serviceFile: "/no/such/service.json", stdin: pack });
  expect(offline).toMatchObject({ code: 1, stdout: expect.stringContaining("were not compared with the audit log") });
});

test("a file that cannot be read is refused with its line, and nothing of it is stored", async () => {
  const row = ["UP-1", "", "airtime", "08031234567", "500", "success", "2026-10-05T12:00:00Z"];
  const refusals: readonly (readonly [readonly string[], string])[] = [
    [changed(row, 4, "5.005"), 'Line 3: amount "5.005" is no amount in naira'],
    [changed(row, 4, "-500"), 'Line 3: amount "-500" has the sign of a credit'],
    [changed(row, 5, "done"), 'Line 3: status "done" is no known status'],
    [changed(row, 2, "funding"), 'Line 3: type "funding" is no known type'],
    [changed(row, 6, "yesterday"), 'Line 3: created_at "yesterday" is no time'],
  ];
  for (const [wrong, message] of refusals) {
    const run = await reconciliation("import", file("wrong.csv", [row, wrong]), "--day", "2026-10-05");
    expect(run).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
  }
  expect(await reconciliation("statements", "show", "2026-10-05")).toMatchObject({ code: 2 });
  expect(await reconciliation("import", "/no/such.csv", "--day", day)).toMatchObject({ code: 2 });
});
