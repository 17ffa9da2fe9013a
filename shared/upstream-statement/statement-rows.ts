import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import * as z from "#zod";
import { statementRow } from "../contract/upstream-statement.ts";
import { getItems } from "../ledger/get-item.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { statementRowsPk } from "../ledger/schema.ts";
import { OperatorError } from "../platform/operator-error.ts";
import type { ChargedRow } from "./match-statement.ts";

const compress = promisify(gzip);
const expand = promisify(gunzip);

/** Rows of a statement's file, compressed: an item for each row would cost ten times as much. */
export const statementRowsSchema = z.object({ pk: z.string(), rows: z.instanceof(Uint8Array) });

const storedRow = z.extend(statementRow, { line: z.int() });
type StoredRow = z.infer<typeof storedRow>;

/** An item has at most 400 KB. */
const BYTES_MAX = 380_000;

export type ChunkKey = { readonly day: string; readonly file: string; readonly chunk: number };

/** One part of a transaction of writes: the rows of a chunk. */
export const statementRowsPut = async ({ table }: Ledger, key: ChunkKey, rows: readonly StoredRow[]) => {
  const compressed = await compress(JSON.stringify(rows));
  if (compressed.length > BYTES_MAX) throw new OperatorError("The rows are too large: send fewer at once");
  const Item: z.infer<typeof statementRowsSchema> = { pk: statementRowsPk(key), rows: new Uint8Array(compressed) };
  return { Put: { TableName: table, Item } };
};

/** The rows of a chunk; none if there is no such chunk. `file`: the number of the file among those of the day. */
export const readStatementRows = async (
  ledger: Ledger,
  key: ChunkKey,
  file: number,
): Promise<readonly ChargedRow[]> => {
  const [item] = await getItems(ledger, [{ pk: statementRowsPk(key) }], statementRowsSchema);
  if (item === undefined) return [];
  const rows = z.array(storedRow).parse(JSON.parse((await expand(item.rows)).toString("utf8")));
  return rows.map((row) => ({ ...row, id: rowId(row), file }));
};

/** Equal for equal rows, wherever they stand. */
const rowId = ({ reference, upstream_reference, type, phone_hash, amount_kobo, status, at }: StoredRow): string =>
  createHash("sha256")
    .update(JSON.stringify([reference, upstream_reference, type, phone_hash, amount_kobo, status, at]))
    .digest("base64url")
    .slice(0, 22);
