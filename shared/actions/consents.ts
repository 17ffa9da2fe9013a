import * as z from "#zod";
import { requireAccount } from "../access/account-store.ts";
import type { consentsActions } from "../contract/actions/consents.ts";
import { consentView, readConsent, readConsents } from "../identity/consent.ts";
import { consentLine, type ExportHeader, exportHeaderSchema, headerLine } from "../identity/consent-export.ts";
import { ALL_TIMES, INDEXED_AGE_MS, indexKeySchema } from "../ledger/query-index.ts";
import type { Transaction } from "../ledger/transaction.ts";
import { type ChainEnd, chainEndSchema, footerLine } from "../platform/chained-lines.ts";
import { NotFoundError, OperatorError } from "../platform/operator-error.ts";
import { isoTime } from "../platform/time.ts";
import { type ActionContext, recordAudited } from "./action-context.ts";
import type { ActionRuns } from "./action-runs.ts";
import { cursorOf, openCursor, requirePlaceWithin, sealCursor } from "./cursor.ts";
import { requireTransactionOf } from "./require-transaction.ts";
import { requireTimeRange } from "./time-range.ts";

/** Queries of one page, of 500 transactions each. */
const READS_PER_PAGE = 4;

export const consentsRuns: ActionRuns<typeof consentsActions> = {
  "consents list": async (context, { account, mode, cursor, ...period }) => {
    const { accounts, ledger } = context;
    await requireAccount(accounts, account);
    const range = requireTimeRange(context, period);
    let start = requirePlaceWithin(cursor, range);
    for (let read = 0; read < READS_PER_PAGE; read += 1) {
      const page = await readConsents(ledger, { accountId: account, mode }, range, start, "newest");
      start = page.next;
      if (page.consents.length === 0 && start !== undefined) continue;
      return { consents: page.consents.map(consentView), next_cursor: cursorOf(start) };
    }
    return { consents: [], next_cursor: cursorOf(start) };
  },
  "consents show": async (context, { account, reference }) =>
    consentOf(context, await requireTransactionOf(context, account, reference), reference),
  "consents export": async (context, { account, cursor, ...period }) => {
    await requireAccount(context.accounts, account);
    const { ledger } = context;
    const lines: string[] = [];
    const list = exportOf(context, account);
    let position = await openCursor(context, list, exportPositionSchema, cursor, "export");
    if (position === undefined) {
      const header = exportHeader(context, account, period);
      await recordExport(context, header);
      const { line, end } = headerLine(header);
      lines.push(line);
      position = { header, end };
    }
    const { header } = position;
    const range = { from: header.from ?? ALL_TIMES.from, to: header.to };
    for (let read = 0; read < READS_PER_PAGE; read += 1) {
      const owner = { accountId: account, mode: "live" } as const;
      const { consents, next } = await readConsents(ledger, owner, range, position.key, "oldest");
      for (const consent of consents) {
        const { line, end } = consentLine(position.end, consent);
        lines.push(line);
        position = { ...position, end };
      }
      if (next === undefined) return { lines: [...lines, await lastLine(context, position)], next_cursor: null };
      position = { ...position, key: next };
    }
    return { lines, next_cursor: await sealCursor(context, list, position) };
  },
};

/** Without the subject: only its keyed hash is stored. */
const consentOf = async ({ ledger }: ActionContext, transaction: Transaction, reference: string) => {
  const consent = await readConsent(ledger, transaction);
  if (consent === undefined) throw new NotFoundError(`${reference} has no consent: it is not an identity check`);
  return consentView(consent);
};

/** Only what is surely in the index is exported, so that a period has the same consents whenever it is exported. */
const exportHeader = (
  context: ActionContext,
  account: string,
  period: Parameters<typeof requireTimeRange>[1],
): ExportHeader => {
  const range = requireTimeRange(context, period);
  const indexedUntil = isoTime(context.ledger.clock() - INDEXED_AGE_MS);
  const to = range.to < indexedUntil ? range.to : indexedUntil;
  if (range.from > to) throw new OperatorError(`Consents can be exported until ${to} only: the period begins later`);
  return {
    account,
    from: period.from === undefined ? null : range.from,
    to,
    exported_at: isoTime(context.ledger.clock()),
  };
};

/** A forged one could bring a hash of the forger's into the audit log. */
const exportPositionSchema = z.object({
  header: exportHeaderSchema,
  end: chainEndSchema,
  key: z.optional(indexKeySchema),
});
type ExportPosition = z.infer<typeof exportPositionSchema>;

/**
 * What a cursor is about, and who began the export: another person's does not fit, because only its beginning and its end
 * are recorded.
 */
const exportOf = ({ request }: ActionContext, account: string): readonly string[] => [
  CONSENTS_EXPORT,
  account,
  ...(request === undefined ? [] : [request.identity]),
];

/** The audit entry of the whole export is written before the footer is returned. */
const lastLine = async (context: ActionContext, { header, end }: ExportPosition): Promise<string> => {
  await recordExport(context, header, end);
  return footerLine(end);
};

/** An export leaves an entry before its first page too: who stops before the footer has read consents as well. */
const recordExport = (context: ActionContext, { account, from, to }: ExportHeader, end?: ChainEnd) =>
  recordAudited(context, account, {
    action: CONSENTS_EXPORT,
    details: { ...(from !== null && { from }), to, ...end },
  });

/** The action in the audit log. */
export const CONSENTS_EXPORT = "consents export";
