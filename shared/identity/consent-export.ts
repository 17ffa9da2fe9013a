import { createHash } from "node:crypto";
import * as z from "zod";
import { escapeControls } from "../contract/control-characters.ts";
import { modeSchema, transactionType } from "../contract/transaction.ts";
import { type Consent, consentView } from "./consent.ts";

/**
 * The consents of one account as JSON Lines: a header, a line for each consent, a footer. Each consent has its number
 * and the SHA-256 of the line before it, and the footer that of the last line, so a line cannot be changed, removed,
 * added or moved without a trace. The keys of each line have a fixed order. Subjects are left out.
 */
export const exportHeaderSchema = z.strictObject({
  account: z.string(),
  /** Null: from the account's first check. */
  from: z.iso.datetime().nullable(),
  to: z.iso.datetime(),
  exported_at: z.iso.datetime(),
});
export type ExportHeader = z.infer<typeof exportHeaderSchema>;

const recordSchema = z.strictObject({
  number: z.int(),
  previous: z.string(),
  reference: z.string(),
  key_id: z.string(),
  mode: modeSchema,
  operation: transactionType,
  extent: z.string(),
  purpose: z.string().nullable(),
  created_at: z.iso.datetime(),
  request_id: z.string(),
});

const hashOf = (line: string): string => createHash("sha256").update(line).digest("hex");

/** The end of a chain: how many consents it has, and the hash of its last line. The footer of the whole file. */
export const chainEndSchema = z.strictObject({ count: z.int(), hash: z.string() });
export type ChainEnd = z.infer<typeof chainEndSchema>;

/** The fields in the schema's order. A terminal that prints the line stays as it is, and so do the line's bytes. */
const lineOf = (schema: z.ZodObject, value: object): string => escapeControls(JSON.stringify(schema.parse(value)));

export const headerLine = (header: ExportHeader): { readonly line: string; readonly end: ChainEnd } => {
  const line = lineOf(exportHeaderSchema, header);
  return { line, end: { count: 0, hash: hashOf(line) } };
};

export const consentLine = (
  { count, hash }: ChainEnd,
  consent: Consent,
): { readonly line: string; readonly end: ChainEnd } => {
  // The header has the account.
  const { account_id: _account, ...view } = consentView(consent);
  const line = lineOf(recordSchema, { number: count + 1, previous: hash, ...view });
  return { line, end: { count: count + 1, hash: hashOf(line) } };
};

export const footerLine = (end: ChainEnd): string => lineOf(chainEndSchema, end);

/** The first line that is not as it was exported; lines are counted from 1. */
export type WrongLine = { readonly line: number; readonly problem: string };

export type VerifiedExport =
  | { readonly isWhole: true; readonly header: ExportHeader; readonly end: ChainEnd }
  | ({ readonly isWhole: false } & WrongLine);

/** Verifies that the lines of an export are those that were exported, in their order. */
export const verifyExport = (text: string): VerifiedExport => {
  const lines = text.replace(/\n$/, "").split("\n");
  const header = parsedLine(exportHeaderSchema, lines[0]);
  if (header === undefined) return { isWhole: false, line: 1, problem: "it is not the header of an export" };
  const end = parsedLine(chainEndSchema, lines.at(-1));
  const records = lines.slice(1, end === undefined ? undefined : -1).map((line) => parsedLine(recordSchema, line));
  const wrong =
    firstWrongRecord(lines, records) ??
    (end === undefined
      ? { line: lines.length + 1, problem: "the footer is missing: the file was cut off" }
      : wrongFooter(lines, records.length, end));
  if (wrong !== undefined) return { isWhole: false, ...wrong };
  return { isWhole: true, header, end: chainEndSchema.parse(end) };
};

type ExportRecord = z.infer<typeof recordSchema>;

/** Undefined unless the line is exactly as it would have been written. */
const parsedLine = <Schema extends z.ZodObject>(
  schema: Schema,
  line: string | undefined,
): z.output<Schema> | undefined => {
  try {
    const { data } = schema.safeParse(JSON.parse(line ?? ""));
    return data !== undefined && lineOf(schema, data) === line ? data : undefined;
  } catch {
    return undefined;
  }
};

const firstWrongRecord = (
  lines: readonly string[],
  records: readonly (ExportRecord | undefined)[],
): WrongLine | undefined => {
  for (const [index, record] of records.entries()) {
    const line = index + 2;
    if (record === undefined) return { line, problem: "it is not a consent as it was exported" };
    if (record.number !== index + 1) return { line, problem: numberProblem(record.number, index + 1, records) };
    if (record.previous !== hashOf(lines[index] ?? "")) return brokenLink(lines, records, index);
  }
  return undefined;
};

const numberProblem = (number: number, expected: number, records: readonly (ExportRecord | undefined)[]): string => {
  const elsewhere = records.findIndex((record) => record?.number === expected);
  if (elsewhere >= 0)
    return `consent ${number} is here instead of consent ${expected}, which is on line ${elsewhere + 2}`;
  if (number < expected) return `consent ${number} is on line ${number + 1} already: this line was added`;
  return number === expected + 1
    ? `consent ${expected} was removed before it`
    : `consents ${expected} to ${number - 1} were removed before it`;
};

/**
 * A line and the `previous` of the next one disagree. If the chain continues behind the next line, that one is intact,
 * so the line before it was changed.
 */
const brokenLink = (
  lines: readonly string[],
  records: readonly (ExportRecord | undefined)[],
  index: number,
): WrongLine => {
  const following = records[index + 1]?.previous ?? parsedLine(chainEndSchema, lines[index + 2])?.hash;
  const isIntact = following === hashOf(lines[index + 1] ?? "");
  return { line: isIntact ? index + 1 : index + 2, problem: "it was changed" };
};

const wrongFooter = (lines: readonly string[], count: number, end: ChainEnd): WrongLine | undefined => {
  const line = lines.length;
  if (end.count !== count) {
    const problem = `the footer counts ${end.count} consents, and the file has ${count}: the last ones were ${count < end.count ? "removed" : "added"}`;
    return { line, problem };
  }
  if (end.hash === hashOf(lines.at(-2) ?? "")) return undefined;
  return { line: line - 1, problem: "it was changed, or the hash in the footer was" };
};
