import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { pipeline, Transform } from "node:stream";
import { parse } from "csv-parse";
import * as z from "#zod";
import { sentRow } from "../../shared/contract/actions/reconciliation.ts";
import { inOurLetters } from "../../shared/contract/upstream-event.ts";
import { maskedText } from "../../shared/contract/values/mask-phones.ts";
import { koboFromText } from "../../shared/contract/values/money.ts";
import { phoneNumberOf } from "../../shared/contract/values/phone-number.ts";
import { fileProblem } from "../../shared/platform/file-problem.ts";
import { OperatorError } from "../../shared/platform/operator-error.ts";
import { isoTime } from "../../shared/platform/time.ts";
import type { ColumnMap } from "./columns.ts";
import { ISO, timeReader } from "./zoned-time.ts";

type SentRow = z.output<typeof sentRow>;
type Stated = { readonly balance_kobo: number; readonly at: string };
/** `row` is absent of one that the columns say to leave out: its balance counts nevertheless. */
type ReadRow = { readonly row?: SentRow; readonly stated?: Stated };

const csvRecord = z.object({ record: z.array(z.string()), info: z.object({ lines: z.int() }) });

/**
 * The rows of a statement's file, one after the other: memory holds some of them at a time. `onBytes` gets the file as
 * it is read. Throws OperatorError for a row that cannot be read.
 */
export async function* readStatement(
  path: string,
  map: ColumnMap,
  onBytes: (bytes: Buffer) => void = () => {},
): AsyncGenerator<ReadRow, void, void> {
  const tap = new Transform({
    transform: (bytes: Buffer, _encoding, done) => {
      onBytes(bytes);
      done(null, bytes);
    },
  });
  const parser = parse({ bom: true, delimiter: map.delimiter, info: true, skip_empty_lines: true, trim: true });
  // The parser passes an error of the file on.
  pipeline(createReadStream(path), tap, parser, () => {});
  let read: ((cells: readonly string[], line: number) => ReadRow | undefined) | undefined;
  // The parser counts a line end of two characters twice if it is within quotes.
  let countedTwice = 0;
  let line = 0;
  try {
    for await (const each of parser) {
      const { record, info } = csvRecord.parse(each);
      for (const cell of record) if (cell.includes("\r\n")) countedTwice += cell.split("\r\n").length - 1;
      line = info.lines - countedTwice;
      if (read === undefined) read = rowReader(record, map);
      else {
        const row = read(record, line);
        if (row !== undefined) yield row;
      }
    }
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error;
    throw new OperatorError(`${path}${problemOf(error, line)}`, { cause: error });
  }
}

/** Of a quote that is not closed the parser names the last line of the file, not where it begins. */
const problemOf = (error: Error & { readonly code: unknown }, line: number): string => {
  if (error.code === "CSV_QUOTE_NOT_CLOSED") return `: a quote that begins after line ${line} is not closed`;
  return String(error.code).startsWith("CSV_") ? `: ${error.message}` : ` cannot be read: ${fileProblem(error)}`;
};

/**
 * Reads a row; undefined for one that is left out and states no balance. Phone numbers that a message repeats of it are masked:
 * an import may be a job whose output is kept.
 */
const rowReader = (headings: readonly string[], map: ColumnMap) => {
  const { columns, amount, time, statuses, types } = map;
  const places = new Map(
    Object.entries(columns).flatMap(([field, heading]) => {
      if (heading === undefined) return [];
      const place = headings.indexOf(heading);
      if (place !== headings.lastIndexOf(heading))
        throw new OperatorError(`The file has several columns "${heading}": rename all but the one that is meant`);
      if (place < 0)
        throw new OperatorError(
          `The file has no column "${heading}", but ${maskedText(headings.join(", "))}: name those in the file of --columns (docs/finance.md)`,
        );
      return [[field, place] as const];
    }),
  );
  const readTime = time.format === ISO ? isoTimeOf : timeReader(time.format, time.zone);

  return (cells: readonly string[], line: number): ReadRow | undefined => {
    const cell = (field: keyof ColumnMap["columns"]): string | undefined =>
      cells[places.get(field) ?? -1]?.trim() || undefined;
    const wrong = (field: keyof ColumnMap["columns"], problem: string): OperatorError =>
      new OperatorError(`Line ${line}: ${columns[field]} "${maskedText(cell(field) ?? "")}" ${problem}`);
    const status = statuses.get(cell("status")?.toLowerCase() ?? "");
    const typeText = cell("type")?.toLowerCase();
    const type = typeText === undefined ? undefined : types.get(typeText);
    const at = readTime(cell("time") ?? "");
    const isOfOldYear = at !== undefined && at < OLDEST;
    const balanceText = cell("balance");
    const balance_kobo = balanceText === undefined ? undefined : koboOf(balanceText, amount.unit);
    const stated = at === undefined || isOfOldYear || balance_kobo === undefined ? undefined : { balance_kobo, at };
    if (status === "ignored" || type === "ignored") return stated && { stated };
    if (status === undefined) throw wrong("status", "is no known status: add it to statuses");
    if (typeText !== undefined && type === undefined) throw wrong("type", "is no known type: add it to types");
    const amountKobo = koboOf(cell("amount") ?? "", amount.unit);
    if (amountKobo === undefined) throw wrong("amount", `is no amount in ${amount.unit}`);
    const amount_kobo = amount.sign === "plus" ? amountKobo : -amountKobo;
    if (amount_kobo < 0) throw wrong("amount", "has the sign of a credit: ignore such rows by their type or status");
    if (at === undefined) throw wrong("time", `is no time of the format ${time.format}`);
    if (isOfOldYear) throw wrong("time", "has a year before 2000: its years may have lost their first two digits");
    if (balanceText !== undefined && balance_kobo === undefined)
      throw wrong("balance", `is no amount in ${amount.unit}`);
    const [upstream_reference, reference, phone] = [
      cell("upstream_reference"),
      cell("reference"),
      cell("phone_number"),
    ];
    const row: SentRow = {
      line,
      ...(upstream_reference !== undefined && { upstream_reference: inOurLetters(upstream_reference) }),
      ...(reference !== undefined && { reference: inOurLetters(reference) }),
      ...(type !== undefined && { type }),
      ...(phone !== undefined && { phone_number: phoneNumberOf(phone) ?? phone.replaceAll(/\D/g, "") }),
      amount_kobo: Math.abs(amount_kobo),
      status,
      at,
    };
    for (const field of textFields) {
      const [issue] = sentTexts[field].safeParse(row[field]).error?.issues ?? [];
      if (issue !== undefined) throw wrong(field, `is refused: ${issue.message}`);
    }
    return { row, ...(stated && { stated }) };
  };
};

/** What the service may refuse of a row that could be read. */
const textFields = ["upstream_reference", "reference", "phone_number"] as const;
const sentTexts = sentRow.shape;

/** Earlier than any order: a year such as 0026 lost two digits in another program. */
const OLDEST = "2000";

const isoTimeSchema = z.iso.datetime({ offset: true });
const isoTimeOf = (text: string): string | undefined =>
  isoTimeSchema.safeParse(text).success ? isoTime(Date.parse(text)) : undefined;

const koboOf = (text: string, unit: "naira" | "kobo"): number | undefined => {
  const plain = text.replace(/^([+-]?)\s*(?:NGN|₦)\s*/, "$1");
  if (unit === "naira") return koboFromText(plain);
  return /^[+-]?\d{1,15}$/.test(plain) ? Number(plain) : undefined;
};

export type StatementSummary = {
  readonly rows: number;
  /** SHA-256 of the file. */
  readonly sha256: string;
  /** Of its rows, by `rowsHash`. */
  readonly rowsSha256: string;
  /** The balance that the last row before the end of the day states. */
  readonly closing: Stated | undefined;
};

/** The rows of a file as it has them, or as they are stored: with a number, or with the hash of one. */
type HashedRow = Omit<SentRow, "phone_number"> & { readonly isForNumber: boolean };

/** A hash that is the same of a file's rows and of those that are stored for it. It covers no number, only that there is one. */
export const rowsHash = () => {
  const hash = createHash("sha256");
  return {
    add: ({ line, reference, upstream_reference, type, amount_kobo, status, at, isForNumber }: HashedRow): void => {
      hash.update(JSON.stringify([line, reference, upstream_reference, type, amount_kobo, status, at, isForNumber]));
    },
    digest: (): string => hash.digest("hex"),
  };
};

/** Reads a file as a whole, so that a wrong row is found before anything is stored. */
export const summarise = async (
  path: string,
  map: ColumnMap,
  { dayEnd, onRow }: { readonly dayEnd: string; readonly onRow: (rows: number) => void },
): Promise<StatementSummary> => {
  const hash = createHash("sha256");
  const hashed = rowsHash();
  let rows = 0;
  const closing = closingBalance();
  for await (const { row, stated } of readStatement(path, map, (bytes) => void hash.update(bytes))) {
    if (stated !== undefined && stated.at < dayEnd) closing.add(stated);
    if (row === undefined) continue;
    rows += 1;
    hashed.add({ ...row, isForNumber: row.phone_number !== undefined });
    onRow(rows);
  }
  if (rows === 0) throw new OperatorError(`${path} has no row of an order`);
  return { rows, sha256: hash.digest("hex"), rowsSha256: hashed.digest(), closing: closing.last() };
};

/** Of rows with the last time, the one that was booked last is the first one of a file that begins with its newest row. */
const closingBalance = () => {
  let [begins, ends] = ["", ""];
  let latest: { readonly first: Stated; readonly last: Stated } | undefined;
  return {
    add: (stated: Stated): void => {
      begins ||= stated.at;
      ends = stated.at;
      if (latest === undefined || latest.last.at < stated.at) latest = { first: stated, last: stated };
      else if (latest.last.at === stated.at) latest = { ...latest, last: stated };
    },
    last: (): Stated | undefined => (begins > ends ? latest?.first : latest?.last),
  };
};
