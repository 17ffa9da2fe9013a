import { GetCommand, PutCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import { type Mode, modeSchema } from "../contract/transaction.ts";
import { getItems } from "../ledger/get-item.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { maskedNumber, maskedText } from "../ledger/mask-phone.ts";
import { accountIdsOf, listKeyBatches } from "../ledger/query-index.ts";
import { EVENTS_LIST, phoneRetentionPk, transactionList } from "../ledger/schema.ts";
import { classifyWriteError } from "../ledger/transact.ts";
import { transactionSchema } from "../ledger/transaction.ts";
import { type Deadline, deadlineIn } from "../platform/deadline.ts";
import { errorFields, log } from "../platform/log.ts";
import { EPOCH, isoTime } from "../platform/time.ts";
import { MASK_PHONES_MS_MAX, RUN_RESERVE_MS } from "../platform/time-budgets.ts";
import { readableEventSchema } from "../upstream-events/stored-event.ts";

const DAY_MS = 24 * 3_600_000;
const UPDATES_AT_ONCE = 10;

/**
 * Masks the phone numbers of transactions and stored events that are older than the retention, once a day: all but the
 * last two digits. It reads them by list and time, from where the previous pass ended. Resolves with the number of
 * masked items.
 *
 * An open live transaction keeps its number, because an event may still be matched by it, until the first pass after
 * its final status.
 */
export const maskOldPhones = async (ledger: Ledger, retentionDays: number, deadline: Deadline): Promise<number> => {
  const before = `${isoTime(ledger.clock() - retentionDays * DAY_MS).slice(0, "2026-11-21".length)}T00:00:00.000Z`;
  const run = deadlineIn(MASK_PHONES_MS_MAX, ledger.clock);
  const hasTime = (): boolean => run.remainingMs() > 0 && deadline.remainingMs() > RUN_RESERVE_MS;
  let masked = 0;
  let isComplete = true;
  try {
    const pass = await readProgress(ledger, ALL_LISTS);
    if (pass.finished_before >= before) return 0;
    for (const part of await partsOf(ledger)) {
      const result = await maskPart(ledger, part, before, hasTime);
      masked += result.masked;
      isComplete &&= result.isComplete;
      if (!hasTime()) break;
    }
    if (isComplete && hasTime()) await writeProgress(ledger, { ...pass, finished_before: before });
  } catch (error) {
    log.alarm("phone_numbers.not_masked", errorFields(error));
  }
  return masked;
};

/** How far the items of a list are masked. */
const progressSchema = z.object({
  pk: z.string(),
  /** The next run begins here. */
  position: z.iso.datetime(),
  /** The oldest item that keeps its number for now: the next pass begins with it. */
  oldest_waiting: z.iso.datetime().optional(),
  /** The last complete pass masked everything that was created before this moment. */
  finished_before: z.iso.datetime(),
});
type MaskingProgress = z.infer<typeof progressSchema>;

/** The key of the item that records whether today's pass is complete. */
const ALL_LISTS = "";

/** Not read strongly: an older state only repeats a part of the work. */
const readProgress = async ({ db, table }: Ledger, listKey: string): Promise<MaskingProgress> => {
  const pk = phoneRetentionPk(listKey);
  const { Item } = await db.send(new GetCommand({ TableName: table, Key: { pk } }));
  return Item === undefined ? { pk, position: EPOCH, finished_before: EPOCH } : progressSchema.parse(Item);
};

const writeProgress = async ({ db, table }: Ledger, Item: MaskingProgress): Promise<void> => {
  await db.send(new PutCommand({ TableName: table, Item }));
};

/** Attributes with their stored and their masked values; without the latter it is removed. */
type MaskingUpdate = Readonly<Record<string, { readonly from: string; readonly to?: string }>>;

/** An item to mask: `change` is empty if no number is left to mask; `waits` is true if the number is kept for now. */
type Maskable = {
  readonly pk: string;
  readonly created_at: string;
  readonly waits: boolean;
  readonly change: MaskingUpdate;
};

/** The items of one list. */
type Part = { readonly listKey: string; readonly schema: z.ZodType<Maskable> };

const partsOf = async (ledger: Ledger): Promise<readonly Part[]> => {
  const accountIds = await accountIdsOf(ledger);
  const partOf = (accountId: string) => (mode: Mode) => ({
    listKey: transactionList(accountId, mode),
    schema: maskableTransaction,
  });
  return [
    ...accountIds.flatMap((accountId) => modeSchema.options.map(partOf(accountId))),
    { listKey: EVENTS_LIST, schema: maskableEvent },
  ];
};

const changeOf = (name: string, from: string, to: string): MaskingUpdate =>
  from === to ? {} : { [name]: { from, to } };

const maskableTransaction = transactionSchema
  .pick({
    pk: true,
    mode: true,
    status: true,
    phone_number: true,
    phone_key: true,
    description: true,
    created_at: true,
  })
  .transform(({ pk, mode, status, phone_number: number = "", phone_key, description, created_at }): Maskable => {
    const change = {
      ...changeOf("phone_number", number, maskedNumber(number)),
      ...(number !== "" && changeOf("description", description, maskedText(description, number))),
      ...(phone_key !== undefined && { phone_key: { from: phone_key } }),
    };
    // No event is matched to a test transaction, and some of those stay open for ever.
    const waits = mode === "live" && status === "processing";
    return { pk, created_at, waits, change };
  });

/** An event is stored with the beginning and the end of its number. */
const maskableEvent = readableEventSchema
  .pick({ pk: true, phone_masked: true, created_at: true })
  .transform(({ pk, phone_masked: number = "", created_at }): Maskable => {
    return { pk, created_at, waits: false, change: changeOf("phone_masked", number, maskedNumber(number)) };
  });

type PartResult = { readonly masked: number; readonly isComplete: boolean };

/** Masks one list's items, from where the pass is; an error stops this list's part until the next run. */
const maskPart = async (ledger: Ledger, part: Part, before: string, hasTime: () => boolean): Promise<PartResult> => {
  let count = 0;
  try {
    let progress = await readProgress(ledger, part.listKey);
    if (progress.finished_before >= before) return { masked: 0, isComplete: true };
    const range = { from: progress.position, to: before };
    for await (const keys of listKeyBatches(ledger, part.listKey, range)) {
      if (!hasTime()) return { masked: count, isComplete: false };
      const items = await getItems(ledger, keys, part.schema);
      const due = items.filter(({ change }) => Object.keys(change).length > 0);
      count += await maskAll(
        ledger,
        due.filter(({ waits }) => !waits),
      );
      const oldestWaiting = progress.oldest_waiting ?? due.find(({ waits }) => waits)?.created_at;
      const position = keys.at(-1)?.created_at ?? progress.position;
      progress = { ...progress, position, ...(oldestWaiting !== undefined && { oldest_waiting: oldestWaiting }) };
      await writeProgress(ledger, progress);
    }
    // For a list without old items no progress is stored.
    if (progress.position === EPOCH) return { masked: count, isComplete: true };
    const { oldest_waiting: position = before, ...rest } = progress;
    await writeProgress(ledger, { ...rest, position, finished_before: before });
    return { masked: count, isComplete: true };
  } catch (error) {
    // A held item is retried in the next run, without an alarm.
    if (classifyWriteError(error).kind !== "conflict") {
      log.alarm("phone_numbers.not_masked", { list: part.listKey, ...errorFields(error) });
    }
    return { masked: count, isComplete: false };
  }
};

const maskAll = async (ledger: Ledger, items: readonly Maskable[]): Promise<number> => {
  let count = 0;
  for (let start = 0; start < items.length; start += UPDATES_AT_ONCE) {
    const written = await Promise.all(
      items.slice(start, start + UPDATES_AT_ONCE).map((item) => maskItem(ledger, item)),
    );
    count += written.filter(Boolean).length;
  }
  return count;
};

/** DynamoDB refuses a clause without a part. */
const clause = (name: "SET" | "REMOVE", parts: readonly string[]): string =>
  parts.length === 0 ? "" : `${name} ${parts.join(", ")}`;

/** False if another run has masked the item since it was read. */
const maskItem = async ({ db, table }: Ledger, { pk, change }: Maskable): Promise<boolean> => {
  const changes = Object.entries(change);
  const sets = changes.flatMap(([, { to }], index) => (to === undefined ? [] : [`#${index} = :to${index}`]));
  const removes = changes.flatMap(([, { to }], index) => (to === undefined ? [`#${index}`] : []));
  try {
    await db.send(
      new UpdateCommand({
        TableName: table,
        Key: { pk },
        UpdateExpression: [clause("SET", sets), clause("REMOVE", removes)].join(" "),
        ConditionExpression: changes.map((_, index) => `#${index} = :from${index}`).join(" AND "),
        ExpressionAttributeNames: Object.fromEntries(changes.map(([name], index) => [`#${index}`, name])),
        ExpressionAttributeValues: Object.fromEntries(
          changes.flatMap(([, { from, to }], index) => [
            [`:from${index}`, from],
            ...(to === undefined ? [] : [[`:to${index}`, to]]),
          ]),
        ),
      }),
    );
    return true;
  } catch (error) {
    if (classifyWriteError(error).kind === "condition_failed") return false;
    throw error;
  }
};
