import * as z from "#zod";
import { decodePageCursor, encodePageCursor } from "../ledger/page-cursor.ts";
import { decodeIndexKey, encodeIndexKey, type IndexKey, type TimeRange } from "../ledger/query-index.ts";
import { isTransactionPk } from "../ledger/schema.ts";
import type { Hashes } from "../platform/keyed-hashes.ts";
import { OperatorError } from "../platform/operator-error.ts";
import type { ActionContext } from "./action-context.ts";

export const wrongCursor = (what = "list"): OperatorError => new OperatorError(`The cursor is not of this ${what}`);

/** The place that a cursor names in a list of such items. Throws if it is a cursor of another list. */
export const requirePlace = (
  cursor: string | undefined,
  isItemPk: (pk: string) => boolean,
  what?: string,
): IndexKey | undefined => {
  const place = cursor === undefined ? undefined : decodeIndexKey(cursor, isItemPk);
  if (cursor !== undefined && place === undefined) throw wrongCursor(what);
  return place;
};

/** The same in a list of transactions, of which these times are listed. */
export const requirePlaceWithin = (cursor: string | undefined, { from, to }: TimeRange): IndexKey | undefined => {
  const place = requirePlace(cursor, isTransactionPk);
  if (place !== undefined && (place.created_at < from || place.created_at > to)) throw wrongCursor();
  return place;
};

/** The `next_cursor` of a page. */
export const cursorOf = (next: IndexKey | undefined): string | null =>
  next === undefined ? null : encodeIndexKey(next);

type Sealing = Pick<ActionContext, "keyedHashes">;

const sealedSchema = z.object({ position: z.record(z.string(), z.unknown()), mac: z.string() });

/** The `next_cursor` of a page that carries more than a place, such as a balance or a hash: nobody else may make one. */
export const sealCursor = async (context: Sealing, list: readonly string[], next: object | undefined) =>
  next === undefined ? null : encodePageCursor({ position: next, mac: (await macsOf(context, list, next))[0] });

/** Throws unless it is a cursor that was sealed for this list. `what`: what messages call the list. */
export const openCursor = async <Position>(
  context: Sealing,
  list: readonly string[],
  schema: z.ZodMiniType<Position>,
  cursor: string | undefined,
  what: string,
): Promise<Position | undefined> => {
  if (cursor === undefined) return undefined;
  const sealed = decodePageCursor(sealedSchema, cursor);
  const isOfList = sealed !== undefined && (await macsOf(context, list, sealed.position)).includes(sealed.mac);
  const position = isOfList ? schema.safeParse(sealed.position).data : undefined;
  if (position === undefined) throw wrongCursor(what);
  return position;
};

const macsOf = async ({ keyedHashes }: Sealing, list: readonly string[], position: object): Promise<Hashes> =>
  (await keyedHashes()).cursorMacs([...list, JSON.stringify(position)]);
