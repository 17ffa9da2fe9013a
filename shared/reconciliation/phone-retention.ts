import * as z from "#zod";
import { modeSchema } from "../contract/transaction.ts";
import { DAY_MS } from "../contract/values/durations.ts";
import { dateIn } from "../contract/values/time-zone.ts";
import { consentSchema } from "../identity/consent.ts";
import { getItems } from "../ledger/get-item.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { maskedNumber, withMaskedNumber } from "../ledger/masked-transaction.ts";
import { accountIdsOf, listKeyBatches } from "../ledger/query-index.ts";
import { type Replacements, replaceFields } from "../ledger/replace-fields.ts";
import { consentPk, deliveriesList, EVENTS_LIST, phoneRetentionPk, transactionList } from "../ledger/schema.ts";
import { transactionSchema } from "../ledger/transaction.ts";
import { allEnded } from "../platform/all-ended.ts";
import { batchesOf } from "../platform/batches.ts";
import { type Deadline, deadlineWithin } from "../platform/deadline.ts";
import { errorFields, log } from "../platform/log.ts";
import { EPOCH } from "../platform/time.ts";
import { MASK_PHONES_MS_MAX, RUN_RESERVE_MS } from "../platform/time-budgets.ts";
import { isTransient } from "../platform/transient-error.ts";
import { readableEventSchema } from "../upstream-events/stored-event.ts";
import { deliverySchema, hasAnswer, withoutAnswer } from "../webhooks/delivery.ts";

const UPDATES_AT_ONCE = 10;
/** If the last complete pass began before that, also a call that AWS does not answer raises an alarm. */
const OVERDUE_MS = 3 * DAY_MS;

export type RetentionDays = { readonly phones: number; readonly consents: number };

/**
 * Masks the phone numbers of transactions and stored events that are older than the retention, once a day: all but the
 * last two digits. Of deliveries it removes what endpoints answered, and of consents, which have a retention of their own,
 * whom they are about, purpose and evidence. It reads them by list and time, from where the
 * previous pass ended. Resolves with the number of changed items.
 *
 * An open live transaction keeps its number, because an event may still be matched by it, until the first pass after
 * its final status.
 */
export const maskOldPhones = async (ledger: Ledger, days: RetentionDays, deadline: Deadline): Promise<number> => {
  const midnightBefore = (ageDays: number): string =>
    `${dateIn(ledger.clock() - ageDays * DAY_MS, "UTC")}T00:00:00.000Z`;
  // A pass is recorded by its day. By the limit of one retention, a longer one would stop passes for the other too.
  const today = midnightBefore(0);
  const before = midnightBefore(days.phones);
  const { remainingMs } = deadlineWithin(deadline, MASK_PHONES_MS_MAX, ledger.clock, RUN_RESERVE_MS);
  const hasTime = (): boolean => remainingMs() > 0;
  let masked = 0;
  let isOverdue = false;
  const report = (error: unknown, list?: string, record?: string): void => {
    const fields = { list, record, ...errorFields(error) };
    if (isTransient(error) && !isOverdue) log.warn("phone_numbers.masking_delayed", fields);
    else log.alarm("phone_numbers.not_masked", fields);
  };
  try {
    const { under_way, ...pass } = await readProgress(ledger, ALL_LISTS);
    if (pass.finished_before >= today) return 0;
    isOverdue = Date.parse(today) - Date.parse(pass.finished_before) > OVERDUE_MS;
    const { day = today, part: firstName } = under_way ?? {};
    const accountIds = await accountIdsOf(ledger);
    const limits = { before, consentsBefore: midnightBefore(days.consents) };
    let isComplete = under_way?.has_left !== true;
    for (const part of partsFrom(accountIds, limits, firstName)) {
      const goOnHere = async (): Promise<number> => {
        const left = isComplete ? {} : { has_left: true as const };
        await writeProgress(ledger, { ...pass, under_way: { day, part: part.name, ...left } });
        return masked;
      };
      if (!hasTime()) return await goOnHere();
      const result = await maskPart(ledger, part, hasTime, (error, record) => report(error, part.name, record));
      masked += result.masked;
      if (!result.isComplete && !hasTime()) return await goOnHere();
      isComplete &&= result.isComplete;
    }
    if (isComplete) await writeProgress(ledger, { ...pass, finished_before: day });
    else if (under_way !== undefined) await writeProgress(ledger, pass);
  } catch (error) {
    report(error);
  }
  return masked;
};

/** How far the items of a list are masked. */
export const progressSchema = z.object({
  pk: z.string(),
  /** The next run begins here. */
  position: z.iso.datetime(),
  /** The oldest item that keeps its number for now: the next pass begins with it. */
  oldest_waiting: z.optional(z.iso.datetime()),
  /** The last complete pass masked everything created before this moment. Of all lists: the day on which it began. */
  finished_before: z.iso.datetime(),
  /**
   * Of all lists, if the time was up: the day on which the pass began, the part with which the next run goes on, and
   * whether one before it is not complete. A run that began with the first part again would never reach the last one of
   * many.
   */
  under_way: z.optional(z.object({ day: z.iso.datetime(), part: z.string(), has_left: z.optional(z.literal(true)) })),
});
type MaskingProgress = z.infer<typeof progressSchema>;

/** The key of the item that records whether today's pass is complete. */
const ALL_LISTS = "";

/** Not read strongly: an older state only repeats a part of the work. */
const readProgress = async ({ db, table }: Ledger, listKey: string): Promise<MaskingProgress> => {
  const pk = phoneRetentionPk(listKey);
  const { Item } = await db.get({ TableName: table, Key: { pk } });
  return Item === undefined ? { pk, position: EPOCH, finished_before: EPOCH } : progressSchema.parse(Item);
};

const writeProgress = async ({ db, table }: Ledger, Item: MaskingProgress): Promise<void> => {
  await db.put({ TableName: table, Item });
};

/** An item to mask: `change` is empty if no number is left to mask; `waits` is true if the number is kept for now. */
type Maskable = {
  readonly pk: string;
  readonly waits: boolean;
  readonly change: Replacements;
};

/** What is masked by one list: its items, or those that belong to them. */
type Part = {
  readonly listKey: string;
  /** Names its progress. */
  readonly name: string;
  readonly before: string;
  readonly pkOf: (item: { readonly pk: string }) => string;
  readonly schema: z.ZodMiniType<Maskable>;
};

type Limits = { readonly before: string; readonly consentsBefore: string };

/** One after the other: those of many accounts at once would take the function's memory. */
function* partsOf(accountIds: readonly string[], { before, consentsBefore }: Limits): Generator<Part, void, void> {
  const own = (listKey: string, schema: Part["schema"]): Part => ({
    ...{ listKey, name: listKey, before, schema },
    pkOf: ({ pk }) => pk,
  });
  for (const list of listsOf(accountIds)) yield own(list, maskableTransaction);
  for (const accountId of accountIds) yield own(deliveriesList(accountId), maskableDelivery);
  yield own(EVENTS_LIST, maskableEvent);
  for (const listKey of listsOf(accountIds)) {
    yield {
      ...{ listKey, name: `${listKey}#consents`, before: consentsBefore },
      ...{ pkOf: consentPk, schema: reducedConsent },
    };
  }
}

function* listsOf(accountIds: readonly string[]): Generator<string, void, void> {
  for (const accountId of accountIds) {
    for (const mode of modeSchema.options) yield transactionList(accountId, mode);
  }
}

/** From the part with this name on; all of them if none has it. */
function* partsFrom(
  accountIds: readonly string[],
  limits: Limits,
  firstName: string | undefined,
): Generator<Part, void, void> {
  let hasBegun = false;
  for (const part of partsOf(accountIds, limits)) {
    hasBegun ||= part.name === firstName;
    if (hasBegun) yield part;
  }
  if (!hasBegun) yield* partsOf(accountIds, limits);
}

const changeOf = (name: string, from: string, to: string): Replacements =>
  from === to ? {} : { [name]: { from, to } };

export const maskableTransaction = z.pipe(
  z.pick(transactionSchema, {
    pk: true,
    mode: true,
    status: true,
    phone_number: true,
    phone_key: true,
    description: true,
  }),
  z.transform(({ pk, mode, status, phone_number: number = "", phone_key, description }): Maskable => {
    const change = {
      ...changeOf("phone_number", number, maskedNumber(number)),
      ...changeOf("description", description, withMaskedNumber(description, number)),
      ...(phone_key !== undefined && { phone_key: { from: phone_key } }),
    };
    // No event is matched to a test transaction, and some of those stay open for ever.
    const waits = mode === "live" && status === "processing";
    return { pk, waits, change };
  }),
);

/** An event is stored with the beginning and the end of its number. */
export const maskableEvent = z.pipe(
  z.pick(readableEventSchema, { pk: true, phone_masked: true }),
  z.transform(({ pk, phone_masked: number = "" }): Maskable => {
    return { pk, waits: false, change: changeOf("phone_masked", number, maskedNumber(number)) };
  }),
);

export const maskableDelivery = z.pipe(
  deliverySchema,
  z.transform(({ pk, attempts }): Maskable => {
    const to = attempts.map(withoutAnswer);
    return { pk, waits: false, change: attempts.some(hasAnswer) ? { attempts: { from: attempts, to } } : {} };
  }),
);

/** The rest says who asked, when and for what, and is kept with the order. */
const reducedConsent = z.pipe(
  z.pick(consentSchema, {
    pk: true,
    subject: true,
    subject_key: true,
    purpose: true,
    evidence: true,
  }),
  z.transform(({ pk, ...gone }): Maskable => {
    const change = Object.fromEntries(Object.entries(gone).map(([name, from]) => [name, { from }]));
    return { pk, waits: false, change };
  }),
);

type PartResult = { readonly masked: number; readonly isComplete: boolean };

/**
 * Masks one list's items, from where the pass is; an error stops this list's part until the next run. An item that cannot be
 * read, or has changed since, stops no other one: the next pass begins with it again.
 */
const maskPart = async (
  ledger: Ledger,
  part: Part,
  hasTime: () => boolean,
  report: (error: unknown, record?: string) => void,
): Promise<PartResult> => {
  const { before } = part;
  let count = 0;
  try {
    let progress = await readProgress(ledger, part.name);
    // After a longer retention was set the position may be behind it: DynamoDB refuses a range that ends before it begins.
    if (progress.finished_before >= before || progress.position > before) return { masked: 0, isComplete: true };
    const range = { from: progress.position, to: before };
    for await (const keys of listKeyBatches(ledger, part.listKey, range)) {
      if (!hasTime()) return { masked: count, isComplete: false };
      const kept = new Set<string>();
      const items = await getItems(
        ledger,
        keys.map((key) => ({ pk: part.pkOf(key) })),
        part.schema,
        (pk, error) => {
          kept.add(pk);
          report(error, pk);
        },
      );
      const due = items.filter(({ change }) => Object.keys(change).length > 0);
      const masked = await maskAll(
        ledger,
        due.filter(({ waits }) => !waits),
      );
      count += masked.size;
      for (const { pk } of due) if (!masked.has(pk)) kept.add(pk);
      const oldestWaiting = progress.oldest_waiting ?? keys.find((key) => kept.has(part.pkOf(key)))?.created_at;
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
    report(error);
    return { masked: count, isComplete: false };
  }
};

/** Resolves with the keys of those that were masked: an item that has changed since it was read is refused. */
const maskAll = async (ledger: Ledger, items: readonly Maskable[]): Promise<ReadonlySet<string>> => {
  const masked = new Set<string>();
  const mask = async ({ pk, change }: Maskable): Promise<void> => {
    if (await replaceFields(ledger, pk, change)) masked.add(pk);
  };
  for (const some of batchesOf(items, UPDATES_AT_ONCE)) await allEnded(some.map(mask));
  return masked;
};
