import * as z from "zod";
import { decodePageCursor, encodePageCursor } from "../ledger/page-cursor.ts";
import type { ActionContext } from "./action-context.ts";

type Sealing = Pick<ActionContext, "keyedHashes">;

const sealedSchema = z.object({ position: z.record(z.string(), z.unknown()), mac: z.string() });

/** A cursor that carries more than a place, such as a balance or a hash: nobody else may make one. */
export const sealCursor = async (context: Sealing, list: readonly string[], position: object): Promise<string> =>
  encodePageCursor({ position, mac: await macOf(context, list, position) });

/** Undefined unless it is a cursor that was sealed for this list. */
export const openCursor = async <Position>(
  context: Sealing,
  list: readonly string[],
  schema: z.ZodType<Position>,
  cursor: string,
): Promise<Position | undefined> => {
  const sealed = decodePageCursor(sealedSchema, cursor);
  if (sealed === undefined || sealed.mac !== (await macOf(context, list, sealed.position))) return undefined;
  return schema.safeParse(sealed.position).data;
};

const macOf = async ({ keyedHashes }: Sealing, list: readonly string[], position: object): Promise<string> =>
  (await keyedHashes()).cursorMac([...list, JSON.stringify(position)]);
