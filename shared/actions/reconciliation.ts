import { isDeepStrictEqual } from "node:util";
import * as z from "#zod";
import type { caseDecisions, reconciliationActions } from "../contract/actions/reconciliation.ts";
import { counted } from "../contract/values/counted.ts";
import { MINUTE_MS } from "../contract/values/durations.ts";
import { actorName, SERVICE } from "../ledger/audit.ts";
import { findByOwnReference } from "../ledger/find-transactions.ts";
import { getItems } from "../ledger/get-item.ts";
import type { Writes } from "../ledger/ledger.ts";
import { withinYears } from "../ledger/list-transactions.ts";
import { decodePageCursor, encodePageCursor } from "../ledger/page-cursor.ts";
import { ALL_TIMES, type IndexKey, indexKeySchema, queryList, queryListInOrder } from "../ledger/query-index.ts";
import { casesList, isStatementCasePk, isStatementPk, STATEMENTS_LIST } from "../ledger/schema.ts";
import { isFinalStatus } from "../ledger/transaction.ts";
import { chainEndSchema, footerLine } from "../platform/chained-lines.ts";
import { NotFoundError, OperatorError } from "../platform/operator-error.ts";
import { isoTime } from "../platform/time.ts";
import {
  bookedOrderOf,
  decodeOrdersPosition,
  type HashPhone,
  readBookedOrders,
} from "../upstream-statement/booked-orders.ts";
import {
  changeStatement,
  isOfDay,
  latestClosing,
  newStatement,
  readStatements,
  requireStatement,
  type Statement,
  type StatementFile,
} from "../upstream-statement/statement.ts";
import {
  type CaseFacts,
  caseFactsSchema,
  casePut,
  newCase,
  readCases,
  requireCase,
  type StatementCase,
  statementCaseSchema,
} from "../upstream-statement/statement-case.ts";
import { caseLine, packHeaderLine, packHeaderOf } from "../upstream-statement/statement-pack.ts";
import { readStatementRows, statementRowsPut } from "../upstream-statement/statement-rows.ts";
import { type ActionContext, type AuditFields, auditItem, recordAudited } from "./action-context.ts";
import type { ActionRuns } from "./action-runs.ts";
import { cursorOf, openCursor, requirePlace, sealCursor, wrongCursor } from "./cursor.ts";

/** What these actions work with: neither wallets nor anything that writes one. */
export type ReconciliationContext = Pick<
  ActionContext,
  "actor" | "capacity" | "request" | "ledger" | "keyedHashes" | "queueMinutes" | "costs"
>;

const STATEMENTS_PER_PAGE = 50;
const CASES_PER_PAGE = 100;
/** 96 bits: two numbers practically never share a hash. */
const PHONE_HASH_LENGTH = 16;

const hashPhoneOf = async ({ keyedHashes }: ReconciliationContext): Promise<HashPhone> => {
  const { recipientHash } = await keyedHashes();
  return (phoneNumber) => recipientHash(phoneNumber).slice(0, PHONE_HASH_LENGTH);
};

const entryOf = (context: ReconciliationContext, fields: AuditFields): Writes => [auditItem(context, SERVICE, fields)];

const statementView = ({ pk: _pk, list_key: _list, version: _version, cases: _cases, files, ...view }: Statement) => ({
  ...view,
  files: files.map(({ chunks: _chunks, closing: _closing, number: _number, ...file }) => file),
});

const caseView = ({ case_id, day, facts, state, decisions, created_at, updated_at }: StatementCase) => ({
  ...{ case: case_id, day, state, decisions, created_at, updated_at },
  ...facts,
  class: caseClassOf(facts),
});

const caseClassOf = ({ class: name }: CaseFacts) => {
  if (name === "matched") throw new Error("A case says that something differs");
  return name;
};

export const reconciliationRuns: ActionRuns<typeof reconciliationActions, ReconciliationContext> = {
  "reconciliation statements list": async ({ ledger }, { cursor }) => {
    const start = requirePlace(cursor, isStatementPk);
    const { keys, next } = await queryList(ledger, STATEMENTS_LIST, ALL_TIMES, start, { newest: STATEMENTS_PER_PAGE });
    const statements = await readStatements(ledger, keys);
    return { statements: statements.map(statementView), next_cursor: cursorOf(next) };
  },

  "reconciliation statements show": async ({ ledger }, { day }) => statementView(await requireStatement(ledger, day)),

  "reconciliation statements sign": async (context, { day, why = "" }) => {
    const { ledger } = context;
    const statement = await changeStatement(ledger, day, async (read) => {
      if (read.files.some(({ state }) => state === "incomplete"))
        throw refusal(day, "has a file that is not whole: import it again");
      if (read.compared?.revision !== read.revision)
        throw refusal(day, "was not compared to the end: import one of its files again");
      if (read.open_cases > 0) throw refusal(day, `has open cases: ${read.open_cases}. Decide each of them first`);
      const signed_off = { by: actorName(context.actor()), at: isoTime(ledger.clock()), why };
      const details = { day, revision: read.revision };
      return {
        statement: { ...read, state: "signed_off", signed_off },
        writes: entryOf(context, { action: "reconciliation statements sign", why, details }),
      };
    });
    return statementView(statement);
  },

  "reconciliation statements export": async (context, { day, cursor }) => {
    const { ledger } = context;
    const statement = await requireStatement(ledger, day);
    const header = packHeaderOf(statement);
    if (header === undefined) throw refusal(day, "is not signed off");
    const lines: string[] = [];
    const list = [STATEMENT_EXPORT, day];
    const begun: Partial<PackPosition> = (await openCursor(context, list, packPositionSchema, cursor, "export")) ?? {};
    let { end, key } = begun;
    if (end === undefined) {
      await recordAudited(context, SERVICE, { action: STATEMENT_EXPORT, details: { day } });
      const first = packHeaderLine(header);
      lines.push(first.line);
      end = first.end;
    }
    const page = await readCasePage(context, day, key);
    for (const each of page.cases) {
      const next = caseLine(end, each);
      lines.push(next.line);
      end = next.end;
    }
    key = page.next;
    if (key !== undefined) return { lines, next_cursor: await sealCursor(context, list, { end, key }) };
    // Nothing of a signed-off day changes: only the index can lack a case.
    if (end.count < statement.cases)
      throw new OperatorError(
        `The index lacks ${counted(statement.cases - end.count, "case")} of ${day}. Export it later`,
      );
    // The audit entry of the whole export is written before the footer is returned.
    await recordAudited(context, SERVICE, { action: STATEMENT_EXPORT, details: { day, ...end } });
    return { lines: [...lines, footerLine(end)], next_cursor: null };
  },

  "reconciliation files begin": async (context, { day, from, to, file, sha256, why }) => {
    const { ledger } = context;
    const at = isoTime(ledger.clock());
    if (from >= to) throw new OperatorError("The day ends before it begins");
    const statement = await changeStatement(
      ledger,
      day,
      async (read) => {
        // The same file with other columns takes the place of the former reading of it.
        const former = read.files.find((each) => each.sha256 === sha256 && each.file !== file && isOfDay(each));
        // Such a reading may correct the zone, and so the day's bounds.
        if (former === undefined && read.files.some(isOfDay) && (read.from !== from || read.to !== to)) {
          throw refusal(day, `was imported as ${read.from} to ${read.to}: use the same time zone`);
        }
        if (read.files.some((each) => each.file === file && isOfDay(each))) return undefined;
        const isKnown = read.files.some((each) => each.file === file);
        if (!isKnown && read.files.length >= FILES_MAX) throw refusal(day, `has ${FILES_MAX} files: join them`);
        const added: StatementFile = {
          file,
          sha256,
          rows: 0,
          chunks: 0,
          state: "incomplete",
          by: actorName(context.actor()),
          at,
          number: former?.number ?? Math.max(0, ...read.files.map((each) => each.number)) + 1,
        };
        // Cases name a file by its place.
        const others = read.files.map((each) => (each === former ? { ...each, state: "replaced" as const } : each));
        const files = isKnown ? others.map((each) => (each.file === file ? added : each)) : [...others, added];
        return {
          statement: { ...withFiles(read, files, former !== undefined), from, to },
          writes: entryOf(context, { action: "reconciliation files begin", why, details: { day, sha256 } }),
        };
      },
      newStatement(day, { from, to }, at),
    );
    const { rows, state } = requireFile(statement, file);
    return { rows, is_whole: state === "whole" };
  },

  "reconciliation files append": async (context, { day, file, offset, rows, is_last, closing }) => {
    const { ledger } = context;
    const hashPhone = await hashPhoneOf(context);
    const stored = rows.map(({ phone_number, ...row }) => ({
      ...row,
      ...(phone_number !== undefined && { phone_hash: hashPhone(phone_number) }),
    }));
    const statement = await changeStatement(ledger, day, async (read) => {
      const appended = requireFile(read, file);
      // A request that is sent again: its first answer was lost.
      if (appended.rows === offset + rows.length) return undefined;
      if (appended.rows !== offset || appended.state !== "incomplete") {
        throw new OperatorError(`This file has ${counted(appended.rows, "row")} stored: continue with the next one`);
      }
      const grown: StatementFile = {
        ...appended,
        rows: offset + rows.length,
        chunks: appended.chunks + 1,
        state: is_last ? "whole" : "incomplete",
        ...(closing !== undefined && { closing }),
      };
      const files = read.files.map((each) => (each === appended ? grown : each));
      return {
        statement: withFiles(read, files, is_last),
        writes: [
          await statementRowsPut(ledger, { day, file, chunk: appended.chunks }, stored),
          ...(is_last
            ? entryOf(context, {
                action: "reconciliation files append",
                details: { day, sha256: grown.sha256, rows: grown.rows },
              })
            : []),
        ],
      };
    });
    return { rows: requireFile(statement, file).rows };
  },

  "reconciliation files remove": async (context, { day, sha256, why }) => {
    const statement = await changeStatement(context.ledger, day, async (read) => {
      const removed = read.files.find((each) => each.sha256 === sha256 && isOfDay(each));
      if (removed === undefined) throw new NotFoundError(`The statement of ${day} has no such file`);
      // Its place stays, because cases name a file by it. So do its rows, which no comparison reads any more.
      const files = read.files.map((each) => (each === removed ? { ...each, state: "removed" as const } : each));
      return {
        statement: withFiles(read, files, removed.state === "whole"),
        writes: entryOf(context, { action: "reconciliation files remove", why, details: { day, sha256 } }),
      };
    });
    return statementView(statement);
  },

  "reconciliation rows list": async ({ ledger }, { day, cursor }) => {
    const statement = await requireStatement(ledger, day);
    const chunks = filesByImport(statement).flatMap(({ file, chunks: count, state, index }) =>
      state === "whole" ? Array.from({ length: count }, (_, chunk) => ({ key: { day, file, chunk }, index })) : [],
    );
    const position = cursor === undefined ? 0 : decodePageCursor(chunkPosition, cursor)?.chunk;
    if (position === undefined) throw wrongCursor();
    const chunk = chunks[position];
    const rows = chunk === undefined ? [] : await readStatementRows(ledger, chunk.key, chunk.index);
    const hasMore = position + 1 < chunks.length;
    return { rows: [...rows], next_cursor: hasMore ? encodePageCursor({ chunk: position + 1 }) : null };
  },

  "reconciliation orders list": async (context, { day, within_ms, cursor }) => {
    const { ledger, queueMinutes, costs } = context;
    const { from, to } = await requireStatement(ledger, day);
    const hashPhone = await hashPhoneOf(context);
    // An order may have waited before it was sent, and either clock may be behind.
    const placed = {
      from: withinYears(isoTime(Date.parse(from) - within_ms - queueMinutes * MINUTE_MS)),
      to: withinYears(isoTime(Date.parse(to) + within_ms)),
    };
    const start = cursor === undefined ? {} : decodeOrdersPosition(cursor, placed);
    if (start === undefined) throw wrongCursor();
    const { orders, next } = await readBookedOrders(
      ledger,
      placed,
      (transaction) => bookedOrderOf(transaction, { from, to }, { costs, hashPhone }),
      start,
    );
    return { orders: [...orders], next_cursor: next === undefined ? null : encodePageCursor(next) };
  },

  "reconciliation cases put": async (context, { day, revision, comparison, replaces, put, withdraw, totals }) => {
    const { ledger } = context;
    const at = isoTime(ledger.clock());
    const ids = [...put.map(({ case: id }) => id), ...withdraw];
    // One write takes an item once.
    if (new Set(ids).size < ids.length) throw new OperatorError("A case is named twice");
    const statement = await changeStatement(ledger, day, async (read) => {
      if (read.revision !== revision) throw refusal(day, "has another file now: import yours again");
      if (read.comparison !== comparison && read.comparison !== replaces)
        throw refusal(day, "was compared by another import since: import yours again");
      const known = new Map((await readCases(ledger, day, ids)).map((each) => [each.case_id, each]));
      const changed = [
        ...put.map(({ case: id, ...facts }) => found(known.get(id) ?? newCase(day, id, facts, at), facts, at)),
        ...withdraw.map((id) => withdrawn(known.get(id), at)),
      ].filter((each) => each !== undefined);
      const opened = changed.filter(({ state }) => state === "open").length;
      const wereOpen = changed.filter(({ case_id }) => known.get(case_id)?.state === "open").length;
      const added = changed.filter(({ version }) => version === 0).length;
      // Until its last request, which has the totals, a comparison may end half-way: the day cannot be signed.
      const compared = totals === undefined ? null : { revision, at, totals };
      return {
        statement: {
          ...{ ...read, compared, comparison },
          open_cases: read.open_cases + opened - wereOpen,
          cases: read.cases + added,
        },
        writes: [
          ...changed.map((each) => casePut(ledger, each)),
          ...(totals === undefined
            ? []
            : entryOf(context, { action: "reconciliation cases put", details: { day, ...countsOf(totals) } })),
        ],
      };
    });
    return { open_cases: statement.open_cases };
  },

  "reconciliation cases list": async (context, { day, cursor }) => {
    await requireStatement(context.ledger, day);
    const start = requirePlace(cursor, isStatementCasePk);
    const { cases, next } = await readCasePage(context, day, start);
    return { cases: cases.map(caseView), next_cursor: cursorOf(next) };
  },

  "reconciliation cases show": async ({ ledger }, { day, case: id }) => caseView(await requireCase(ledger, day, id)),

  "reconciliation cases decide": async (context, { day, case: id, decision, why }) => {
    const { ledger } = context;
    const at = isoTime(ledger.clock());
    await changeStatement(ledger, day, async (read) => {
      const each = await requireCase(ledger, day, id);
      if (each.state === "withdrawn") throw new OperatorError("The last comparison did not find this case any more");
      await requireDecidable(context, each, decision);
      const decisions = [...each.decisions, { decision, why, by: actorName(context.actor()), at }];
      const details = { day, case: id, decision };
      return {
        statement: { ...read, open_cases: read.open_cases - (each.state === "open" ? 1 : 0) },
        writes: [
          casePut(ledger, { ...each, state: "decided", decisions, updated_at: at }),
          ...entryOf(context, { action: "reconciliation cases decide", why, details }),
        ],
      };
    });
    return caseView(await requireCase(ledger, day, id));
  },
};

/** The action in the audit log. */
export const STATEMENT_EXPORT = "reconciliation statements export";
const FILES_MAX = 50;

const refusal = (day: string, problem: string): OperatorError =>
  new OperatorError(`The statement of ${day} ${problem}`);

const chunkPosition = z.object({ chunk: z.int().check(z.minimum(0)) });

/** Sealed, because a forged one could bring a hash of the forger's into the audit log. */
const packPositionSchema = z.object({ end: chainEndSchema, key: indexKeySchema });

type PackPosition = z.infer<typeof packPositionSchema>;

const readCasePage = async ({ ledger }: ReconciliationContext, day: string, start: IndexKey | undefined) => {
  const { keys, next } = await queryListInOrder(ledger, casesList(day), ALL_TIMES, start, CASES_PER_PAGE);
  return { cases: await getItems(ledger, keys, statementCaseSchema), next };
};

/** A later file corrects rows of an earlier one. */
const filesByImport = ({ files }: Statement) =>
  files.map((file, index) => ({ ...file, index })).toSorted((one, other) => one.number - other.number);

/** A statement with other files. `isRevised`: it has to be compared again. */
const withFiles = (statement: Statement, files: StatementFile[], isRevised: boolean): Statement => ({
  ...statement,
  files,
  revision: statement.revision + (isRevised ? 1 : 0),
  closing: latestClosing(files.filter(({ state }) => state === "whole").map((each) => each.closing)),
});

const requireFile = ({ day, files }: Statement, file: string): StatementFile => {
  const found = files.find((each) => each.file === file);
  if (found === undefined) throw refusal(day, "has no such file");
  return found;
};

/** A case as a comparison finds it now; undefined if it is stored so. Its decisions were about other facts. */
const found = (known: StatementCase, facts: CaseFacts, at: string): StatementCase | undefined => {
  const isSame = isDeepStrictEqual(caseFactsSchema.parse(known.facts), facts);
  if (known.version > 0 && isSame && known.state !== "withdrawn") return undefined;
  return { ...known, facts, state: "open", updated_at: at };
};

const withdrawn = (known: StatementCase | undefined, at: string): StatementCase | undefined =>
  known === undefined || known.state === "withdrawn" ? undefined : { ...known, state: "withdrawn", updated_at: at };

const countsOf = (totals: readonly { readonly class: string; readonly count: number }[]): Record<string, number> =>
  Object.fromEntries(totals.filter(({ count }) => count > 0).map(({ class: name, count }) => [name, count]));

/** An order that is open is resolved by the operation for it, before the case says so. */
const requireDecidable = async (
  { ledger }: ReconciliationContext,
  { facts: { order } }: StatementCase,
  decision: (typeof caseDecisions)[number],
): Promise<void> => {
  if (decision !== "resolved" || order === undefined) return;
  const transaction = await findByOwnReference(ledger, order.reference);
  if (transaction === undefined || isFinalStatus(transaction.status)) return;
  throw new OperatorError(`${order.reference} is still processing: resolve it first`, {
    command: "transactions resolve does so",
  });
};
