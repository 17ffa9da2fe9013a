import * as z from "#zod";
import { decodePageCursor, encodePageCursor } from "../ledger/page-cursor.ts";
import type { Hashes } from "../platform/keyed-hashes.ts";
import type { ActionContext } from "./action-context.ts";

type Sealing = Pick<ActionContext, "keyedHashes">;

const sealedSchema = z.object({ position: z.record(z.string(), z.unknown()), mac: z.string() });

/** A cursor that carries more than a place, such as a balance or a hash: nobody else may make one. */
export const sealCursor = async (context: Sealing, list: readonly string[], position: object): Promise<string> =>
  encodePageCursor({ position, mac: (await macsOf(context, list, position))[0] });

/** Undefined unless it is a cursor that was sealed for this list. */
export const openCursor = async <Position>(
  context: Sealing,
  list: readonly string[],
  schema: z.ZodMiniType<Position>,
  cursor: string,
): Promise<Position | undefined> => {
  const sealed = decodePageCursor(sealedSchema, cursor);
  if (sealed === undefined || !(await macsOf(context, list, sealed.position)).includes(sealed.mac)) return undefined;
  return schema.safeParse(sealed.position).data;
};

const macsOf = async ({ keyedHashes }: Sealing, list: readonly string[], position: object): Promise<Hashes> =>
  (await keyedHashes()).cursorMacs([...list, JSON.stringify(position)]);
