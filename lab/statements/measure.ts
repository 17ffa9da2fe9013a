import { createWriteStream, readFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { koboSchema, nairaDecimals, nairaFromKobo } from "../../shared/contract/values/money.ts";
import { dayBounds } from "../../shared/contract/values/time-zone.ts";
import type { AuditedLedger } from "../../shared/ledger/ledger.ts";
import { putAccountPeriod } from "../../shared/ledger/period.ts";
import { type IndexKey, queryListedItems } from "../../shared/ledger/query-index.ts";
import { refundPut } from "../../shared/ledger/refund.ts";
import {
  ACCOUNTS_LIST,
  accountPk,
  entriesList,
  fundingPk,
  transactionList,
  transactionPk,
} from "../../shared/ledger/schema.ts";
import { readStatementPage, type StatementPosition, statedTransactionSchema } from "../../shared/ledger/statement.ts";
import { referenceOf, type Transaction } from "../../shared/ledger/transaction.ts";
import { documentClient } from "../../shared/platform/aws-clients.ts";
import { loadKeyedHashes } from "../../shared/platform/keyed-hashes.ts";
import { isoTime, systemClock } from "../../shared/platform/time.ts";
import { aTransaction } from "../../test/builders/ledger/transaction.ts";
import { FACE_VALUES } from "../../test/builders/upstream/upstream-costs.ts";
import { startDynoxide } from "../../tools/local/dynoxide.ts";
import type { LocalDynamoDb } from "../../tools/local/emulator.ts";
import { localAwsEnvironment, setEnvironment } from "../../tools/local/local-aws.ts";
import { createTables, localTableNames } from "../../tools/local/tables.ts";
import { markdownTable } from "../../tools/markdown/markdown.ts";
import { documentedColumns } from "../../tools/statement-import/columns.ts";
import { directImporter } from "../../tools/statement-import/direct-importer.ts";
import { importStatement } from "../../tools/statement-import/import-statement.ts";
import { readArguments, wholeNumber } from "../../tools/usage/arguments.ts";
import { temporaryFolder } from "../../tools/usage/temporary-folder.ts";
import { importTables } from "../bench/growth/imported-tables.ts";

/** Each has a phone number of its own. */
const ORDERS_MAX = 10_000_000;

/**
 * `npm run statements -- ORDERS`: an account with that many orders of one day, by default a million. Measures its
 * statement from balance points on that are ever further back, and the import of the upstream's statement of the day.
 */
const orders = readArguments("npm run statements -- [ORDERS]", ([count = "1000000", ...others]) => {
  if (others.length > 0) throw new Error("Give one number of orders.");
  return wholeNumber("ORDERS", count, 1, ORDERS_MAX);
});
const sizes = [1_000, 100_000].filter((size) => size < orders);

const DAY = "2026-11-21";
const ZONE = "Africa/Lagos";
const { from, to } = dayBounds(DAY, ZONE);
const [fromMs, dayMs] = [Date.parse(from), Date.parse(to) - Date.parse(from)];
const ACCOUNT = "acc_0123456789abcdef01";
const PRICE = koboSchema.parse(500_00);
/** One in this many orders failed, and was refunded. */
const FAILED_EVERY = 50;
const FUNDED = koboSchema.parse((orders + 1) * PRICE);

const isFailed = (index: number): boolean => index % FAILED_EVERY === 0;
const upstreamReferenceOf = (index: number): string => `UP-${index}`;
const placedAt = (index: number): string => isoTime(fromMs + 1 + Math.floor((index * (dayMs - 10_000)) / orders));

const orderOf = (index: number): Transaction => {
  const at = placedAt(index);
  const {
    open: _open,
    listed_at: _listed,
    ...ended
  } = aTransaction({
    pk: transactionPk(String(index).padStart(26, "0")),
    list_key: transactionList(ACCOUNT, "live"),
    account_id: ACCOUNT,
    status: isFailed(index) ? "failed" : "success",
    caller_reference: `order-${index}`,
    // Each number is one person's: orders that are alike are compared together.
    phone_number: `0803${String(index).padStart(7, "0")}`,
    upstream_reference: upstreamReferenceOf(index),
    created_at: at,
    updated_at: at,
  });
  return ended;
};

/** The ledger's items: the account, its wallet's first entry, and each order with its refund. */
async function* ledgerItems() {
  yield {
    ...{ pk: accountPk(ACCOUNT), list_key: ACCOUNTS_LIST, account_id: ACCOUNT, name: "busy", status: "active" },
    ...{ whitelist: [], entitlements: {}, keys: [], owners: [], version: 1, created_at: isoTime(fromMs - 1) },
  };
  yield {
    ...{ pk: fundingPk("first"), list_key: entriesList(ACCOUNT), account_id: ACCOUNT, kind: "funding" },
    ...{ entry_id: "first", amount_kobo: FUNDED, created_at: isoTime(fromMs - 1) },
  };
  for (let index = 0; index < orders; index += 1) {
    const order = orderOf(index);
    yield order;
    if (isFailed(index)) yield refundPut({ table: "" }, order, isoTime(Date.parse(order.created_at) + 1)).Put.Item;
  }
}

/** A closed period that ends before the last orders, so that a statement of them begins with its balance. */
const closeBefore = async (ledger: AuditedLedger, first: number): Promise<string> => {
  const begins = placedAt(first);
  const refunds = Math.ceil(first / FAILED_EVERY);
  const sums = {
    opening_kobo: 0,
    kinds: {},
    lines: 0,
    closing_kobo: FUNDED - (first - refunds) * PRICE,
    open_orders: 0,
  };
  await putAccountPeriod(
    ledger,
    {
      ...{ account_id: ACCOUNT, month: `before ${first}`, time_zone: ZONE, from: isoTime(0) },
      ...{ to: isoTime(Date.parse(begins) - 1), ...sums, previous: "", hash: String(first) },
      ...{ version: 1 + first + refunds, closed_at: isoTime(Date.now()) },
    },
    undefined,
  );
  return begins;
};

const mb = (bytes: number): string => `${Math.round(bytes / 1_048_576)} MB`;
const seconds = (ms: number): string => `${(ms / 1_000).toFixed(2)} s`;

/** Processor time of another process, from Linux, which counts it in hundredths of a second. */
const processorMsOf = (pid: LocalDynamoDb["pid"]): number => {
  const [, fields = ""] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ");
  const [user, system] = fields.split(" ").slice(11, 13).map(Number);
  return ((user ?? 0) + (system ?? 0)) * 10;
};

/** Time of some work, CPU time of this process and of the emulator, and the most memory that this one has had until its end. */
const measuredBeside =
  (emulator: LocalDynamoDb["pid"]) =>
  async <Result>(work: () => Promise<Result>) => {
    const [cpu, emulatorMs] = [process.cpuUsage(), processorMsOf(emulator)];
    const began = performance.now();
    const result = await work();
    const { user, system } = process.cpuUsage(cpu);
    return {
      result,
      cells: [
        seconds(performance.now() - began),
        seconds((user + system) / 1_000),
        seconds(processorMsOf(emulator) - emulatorMs),
        mb(process.resourceUsage().maxRSS * 1_024),
      ],
    };
  };

/** Reads the statement in the pages in which a month is closed. */
const readLines = async (ledger: AuditedLedger, begins: string): Promise<number> => {
  const range = { from: begins, to: "9999" };
  let lines = 0;
  let start: StatementPosition | undefined;
  for (;;) {
    const page = await readStatementPage(ledger, ACCOUNT, range, start, { linesMax: 5_000, itemsMax: 5_000 });
    lines += page.lines.length;
    if (page.next === undefined) {
      const expected = FUNDED - (orders - Math.ceil(orders / FAILED_EVERY)) * PRICE;
      if (page.closing_kobo !== expected) throw new Error(`It closes with ${page.closing_kobo}, not ${expected}`);
      return lines;
    }
    start = page.next;
  }
};

/** The same items without a statement: what the emulator and the SDK take alone. */
const readItems = async (ledger: AuditedLedger, begins: string): Promise<number> => {
  const list = transactionList(ACCOUNT, "live");
  let items = 0;
  let start: IndexKey | undefined;
  do {
    const page = await queryListedItems(
      ledger,
      list,
      { from: begins, to: "9999" },
      start,
      5_000,
      statedTransactionSchema,
    );
    items += page.items().length;
    start = page.next;
  } while (start !== undefined);
  return items;
};

const writeStatement = async (path: string): Promise<void> => {
  const rows = function* () {
    yield "reference,caller_reference,type,phone_number,amount,status,created_at\n";
    for (let index = 0; index < orders; index += 1) {
      const order = orderOf(index);
      const { type, phone_number, amount_kobo, status, created_at } = order;
      const naira = nairaDecimals(nairaFromKobo(amount_kobo));
      const cells = [upstreamReferenceOf(index), referenceOf(order), type, phone_number, naira, status, created_at];
      yield `${cells.join(",")}\n`;
    }
  };
  await pipeline(Readable.from(rows()), createWriteStream(path));
};

const folder = temporaryFolder("statements-");
const key = async (): Promise<string> => "k".repeat(32);
const empty = await startDynoxide({ pidFile: join(folder, "empty.pid"), logFile: join(folder, "empty.log") });
await createTables(empty.endpoint);
console.info(`Importing a ledger with ${orders} orders`);
const tables = await importTables(empty.endpoint, ledgerItems(), folder);
await empty.stop();
setEnvironment(localAwsEnvironment({ dynamodb: tables.endpoint, sqs: "", secretsManager: "" }));
const db = documentClient();
const { ledger: table, audit: auditTable } = localTableNames;
const ledger: AuditedLedger = { db, table, auditTable, clock: systemClock };
const measured = measuredBeside(tables.pid);
const rows: string[][] = [];
const report = (work: string, cells: readonly string[]): void => {
  console.info([work, ...cells].join(", "));
  rows.push([work, ...cells]);
};
try {
  const statement = join(folder, "statement.csv");
  await writeStatement(statement);
  const importer = directImporter({
    actor: () => ({ by: "lab" }),
    capacity: "operator",
    ledger,
    costs: FACE_VALUES,
    queueMinutes: 15,
    keyedHashes: loadKeyedHashes({ value: key, refetch: key }),
  });
  for (const size of sizes) {
    const begins = await closeBefore(ledger, orders - size);
    const { result: lines, cells } = await measured(() => readLines(ledger, begins));
    const bare = await measured(() => readItems(ledger, begins));
    report(`statement of ${lines.toLocaleString("en-GB")} lines`, cells);
    report(`query of ${bare.result.toLocaleString("en-GB")} of them, and nothing else`, bare.cells);
  }
  const whole = await measured(() => readLines(ledger, isoTime(fromMs - 1)));
  report(`statement of ${whole.result.toLocaleString("en-GB")} lines`, whole.cells);
  const imported = await measured(() =>
    importStatement(importer, { path: statement, day: DAY, map: documentedColumns }),
  );
  const { open_cases, totals } = imported.result;
  if (open_cases > 0 || totals[0]?.count !== orders) throw new Error(`Not all matched: ${JSON.stringify(totals)}`);
  report(`import of ${orders.toLocaleString("en-GB")} rows`, imported.cells);
  console.info(markdownTable([["work", "time", "CPU time", "of the emulator", "memory, at most"], ...rows]));
} finally {
  await tables.stop();
}
