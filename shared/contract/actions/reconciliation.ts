import * as z from "#zod";
import { wholeText } from "../fields.ts";
import { exportRoles } from "../roles.ts";
import { bookedOrder, findingClasses, statementRow } from "../upstream-statement.ts";
import { DAY_MS } from "../values/durations.ts";
import {
  type ActionTable,
  bookChange,
  bookRead,
  changeInput,
  nextCursor,
  printableText,
  referenceInput,
  typedNumber,
  whySchema,
} from "./action.ts";

/** A day of the upstream's statement. */
const dayInput = z.object({
  day: z.iso
    .date("Must be a day such as 2026-11-21")
    .register(z.globalRegistry, { description: "the day of the statement, such as 2026-11-21" }),
});
const pageInput = z.object({ cursor: z.optional(z.string().check(z.maxLength(1_000))) });

/** SHA-256 of a file and of how its columns are read. */
const fileId = z.string().check(z.regex(/^[0-9a-f]{64}$/, "Must be a SHA-256 in hexadecimal digits"));

/** What differs needs a decision. */
export const caseClasses = findingClasses.filter((name) => name !== "matched");
const caseClass = z.enum(caseClasses);
export const caseDecisions = ["explained", "disputed", "resolved"] as const;
const caseDecision = z.enum(caseDecisions);

/** Rows of one request: one item has them. */
export const STATEMENT_ROWS_MAX = 2_000;
/** Cases of one request: they are written together. */
export const CASES_MAX = 40;

const caseId = printableText
  .check(z.minLength(1), z.maxLength(200))
  .register(z.globalRegistry, { description: "its id, as `cases list` shows it" });

/** A row as it is sent: the number is stored as a keyed hash. */
export const sentRow = z.extend(z.omit(statementRow, { phone_hash: true }), {
  reference: z.optional(referenceInput),
  upstream_reference: z.optional(referenceInput),
  phone_number: z.optional(z.string().check(z.maxLength(20))),
  line: z.int().check(z.minimum(1)),
});
const storedRow = z.extend(statementRow, { id: z.string().check(wholeText), file: z.int(), line: z.int() });

/** What a case is about, without the recipient. */
const caseFacts = z.object({
  class: caseClass,
  order: z.optional(z.omit(bookedOrder, { phone_hash: true })),
  row: z.optional(z.omit(storedRow, { phone_hash: true })),
  /** By how much the statement's clock is ahead of ours. */
  ahead_ms: z.optional(z.int()),
});

const caseView = z.extend(caseFacts, {
  case: z.string(),
  day: z.iso.date(),
  /** `withdrawn`: a later comparison no longer finds it. */
  state: z.enum(["open", "decided", "withdrawn"]),
  decisions: z.array(z.object({ decision: caseDecision, why: z.string(), by: z.string(), at: z.iso.datetime() })),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});

/**
 * How many findings a class has, and what the books and the statement charge for them: an order counts once, in the class of
 * its first row, and what failed counts nothing.
 */
const classTotal = z.object({
  class: z.enum(findingClasses),
  count: z.int(),
  ours_kobo: z.int(),
  theirs_kobo: z.int(),
});

const statementView = z.object({
  day: z.iso.date(),
  /** `signed_off`: nothing of it changes any more. */
  state: z.enum(["open", "signed_off"]),
  from: z.iso.datetime(),
  to: z.iso.datetime(),
  files: z.array(
    z.object({
      file: fileId,
      sha256: fileId,
      rows: z.int(),
      /** `replaced`: the same file was imported again with other columns. `removed`: a person took it out. */
      state: z.enum(["incomplete", "whole", "replaced", "removed"]),
      by: z.string(),
      at: z.iso.datetime(),
    }),
  ),
  /** Grows with every file. */
  revision: z.int(),
  /** The last comparison that ended; null before the first. */
  compared: z.nullable(z.object({ revision: z.int(), at: z.iso.datetime(), totals: z.array(classTotal) })),
  /** The last comparison that was begun; empty before the first. */
  comparison: z.string(),
  open_cases: z.int(),
  /** The balance that the statement's last row states. */
  closing: z.nullable(z.object({ balance_kobo: z.int(), at: z.iso.datetime() })),
  signed_off: z.nullable(z.object({ by: z.string(), at: z.iso.datetime(), why: z.string() })),
  created_at: z.iso.datetime(),
});

/** The upstream's statements, compared with our books. None of these actions can move money. */
export const reconciliationActions = {
  "reconciliation files begin": {
    ...bookChange,
    input: z.extend(dayInput, {
      ...changeInput.shape,
      from: z.iso.datetime(),
      to: z.iso.datetime(),
      file: fileId,
      sha256: fileId,
    }),
    /** How much of the file is stored already. */
    output: z.object({ rows: z.int(), is_whole: z.boolean() }),
    summary: "Begin to import a file of the upstream's statement, or continue",
    command: "none",
  },
  "reconciliation files append": {
    ...bookChange,
    input: z.extend(dayInput, {
      file: fileId,
      /** The rows that are stored before these. */
      offset: z.int().check(z.minimum(0)),
      rows: z.array(sentRow).check(z.minLength(1), z.maxLength(STATEMENT_ROWS_MAX)),
      is_last: z.boolean(),
      closing: z.optional(z.object({ balance_kobo: z.int(), at: z.iso.datetime() })),
    }),
    output: z.object({ rows: z.int() }),
    summary: "Store the next rows of a file; numbers only as keyed hashes",
    command: "none",
  },
  "reconciliation files remove": {
    ...bookChange,
    input: z.extend(dayInput, {
      sha256: fileId.register(z.globalRegistry, {
        description: "the file's SHA-256, as `statements show` has it",
      }),
      why: whySchema,
    }),
    output: statementView,
    summary: "Remove a wrong file from a day that is not signed off; the day is then compared again",
    command: {
      takes: { day: "<day>", sha256: "<sha256>" },
      example:
        '2026-11-21 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 --why "The file is of 20 November"',
      note: "Import another file of the day, or one of those that are left once more, to compare it.",
    },
  },
  "reconciliation rows list": {
    ...bookRead,
    input: z.extend(dayInput, pageInput.shape),
    output: z.object({ rows: z.array(storedRow), next_cursor: nextCursor }),
    summary: "List the rows of a day's statement",
    command: "none",
  },
  "reconciliation orders list": {
    ...bookRead,
    input: z.extend(dayInput, {
      ...pageInput.shape,
      within_ms: z.pipe(typedNumber, z.int().check(z.minimum(0), z.maximum(DAY_MS))),
    }),
    /** A page may be empty although `next_cursor` is set. */
    output: z.object({ orders: z.array(bookedOrder), next_cursor: nextCursor }),
    summary: "List the live orders that a day's statement may list",
    command: "none",
  },
  "reconciliation cases put": {
    ...bookChange,
    input: z.extend(dayInput, {
      /** The revision of the rows that were compared. */
      revision: z.int(),
      /** The same in all requests of a comparison. */
      comparison: z.uuid(),
      /** That of the statement when this comparison began: it is refused if another has begun since. */
      replaces: z.union([z.uuid(), z.literal("")]),
      put: z.array(z.extend(caseFacts, { case: caseId })).check(z.maxLength(CASES_MAX)),
      withdraw: z.array(caseId).check(z.maxLength(CASES_MAX)),
      /** With the last cases of a comparison. */
      totals: z.optional(z.array(classTotal).check(z.maxLength(findingClasses.length))),
    }),
    output: z.object({ open_cases: z.int() }),
    summary: "Store what a comparison found",
    command: "none",
  },
  "reconciliation cases list": {
    ...bookRead,
    input: z.extend(dayInput, pageInput.shape),
    output: z.object({ cases: z.array(caseView), next_cursor: nextCursor }),
    summary: "List the cases of a day: what differs between its statement and our books",
    command: "by hand",
  },
  "reconciliation cases show": {
    ...bookRead,
    input: z.extend(dayInput, {
      case: caseId,
    }),
    output: caseView,
    summary: "Show a case with its decisions",
    command: { takes: { day: "<day>", case: "<case>" }, example: "2026-11-21 AIRTIME_7Z9K3QX1V5B8M2N4C6D0F1G3HJ" },
  },
  "reconciliation cases decide": {
    ...bookChange,
    input: z.extend(dayInput, {
      case: caseId,
      decision: caseDecision.check(
        z.meta({
          description:
            "`explained`; `disputed` with the upstream; or `resolved`, by an operation that was done already",
        }),
      ),
      why: whySchema,
    }),
    output: caseView,
    summary: "Decide a case; the last decision counts, and no decision moves money",
    command: {
      takes: { day: "<day>", case: "<case>", decision: "<decision>" },
      example: '2026-11-21 AIRTIME_7Z9K3QX1V5B8M2N4C6D0F1G3HJ disputed --why "Mail to the upstream of 23 November"',
    },
  },
  "reconciliation statements list": {
    ...bookRead,
    input: pageInput,
    output: z.object({ statements: z.array(statementView), next_cursor: nextCursor }),
    summary: "List the upstream's statements, the last imported day first, with their totals and open cases",
    command: {
      table: { rows: "statements", columns: ["day", "state", "open_cases", "revision", "created_at"] },
      note: "A day is complete once it is compared at its present revision and has no open case.",
    },
  },
  "reconciliation statements show": {
    ...bookRead,
    input: dayInput,
    output: statementView,
    summary: "Show the statement of a day: its files, totals and open cases",
    command: { takes: { day: "<day>" }, example: "2026-11-21" },
  },
  "reconciliation statements sign": {
    ...bookChange,
    irreversible: true,
    input: z.extend(dayInput, { why: z.optional(whySchema) }),
    output: statementView,
    summary: "Sign off a compared day that has no open case; it can no longer change",
    command: { takes: { day: "<day>" }, example: '2026-11-21 --why "November is closed"' },
  },
  "reconciliation statements export": {
    scope: "service",
    roles: exportRoles,
    kind: "read",
    audited: true,
    input: z.extend(dayInput, pageInput.shape),
    output: z.object({
      /** Lines of the file, which pages continue. The last page ends with the footer. */
      lines: z.array(z.string()),
      next_cursor: nextCursor,
    }),
    summary: "Export a signed-off day as JSON Lines, each with the hash of the line before",
    command: "none",
  },
} as const satisfies ActionTable;
