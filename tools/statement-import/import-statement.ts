import { createHash, randomUUID } from "node:crypto";
import type { ActionInput, ActionOutput } from "../../shared/contract/actions/actions.ts";
import {
  CASES_MAX,
  type reconciliationActions,
  STATEMENT_ROWS_MAX,
} from "../../shared/contract/actions/reconciliation.ts";
import { type FindingClass, findingClasses } from "../../shared/contract/upstream-statement.ts";
import { MINUTE_MS } from "../../shared/contract/values/durations.ts";
import { dayBounds } from "../../shared/contract/values/time-zone.ts";
import { batchesOf } from "../../shared/platform/batches.ts";
import { OperatorError } from "../../shared/platform/operator-error.ts";
import { pagesOf } from "../../shared/platform/pages.ts";
import { type Finding, statementMatcher } from "../../shared/upstream-statement/match-statement.ts";
import { caseFactsOf, caseIdOf } from "../../shared/upstream-statement/statement-case.ts";
import type { ColumnMap } from "./columns.ts";
import { partsOnDisk } from "./parts-on-disk.ts";
import { readStatement, rowsHash, type StatementSummary, summarise } from "./read-statement.ts";

type Totals = NonNullable<ActionInput<"reconciliation cases put">["totals"]>;
type SentCase = ActionInput<"reconciliation cases put">["put"][number];

export type Imported = {
  readonly day: string;
  readonly rows: number;
  /** Rows that this run stored; 0 if the file was imported before. */
  readonly stored: number;
  readonly open_cases: number;
  readonly totals: Totals;
};

/** What an import asks of the service, and where it says how far it is. */
export type Importer = {
  readonly act: <Name extends keyof typeof reconciliationActions>(
    name: Name,
    input: ActionInput<Name>,
  ) => Promise<ActionOutput<Name>>;
  readonly onProgress: (text: string) => void;
};

/** More differences than people can decide: the columns are read wrongly, or the file is another day's. */
const CASES_PER_DAY_MAX = 20_000;
const PROGRESS_MS = 5_000;

/** Stores the rows of a file that are not stored yet, and compares the whole day with our books. */
export const importStatement = async (
  importer: Importer,
  { path, day, map }: { readonly path: string; readonly day: string; readonly map: ColumnMap },
): Promise<Imported> => {
  const progress = progressEvery(PROGRESS_MS, importer);
  const bounds = dayBounds(day, map.time.zone);
  const onRow = (rows: number): void => progress(() => `${rows} rows read`);
  const summary = await summarise(path, map, { dayEnd: bounds.to, onRow });
  const file = createHash("sha256")
    .update(`${summary.sha256} ${mapText(map)}`)
    .digest("hex");
  const begun = await importer.act("reconciliation files begin", {
    ...{ day, file, sha256: summary.sha256 },
    ...bounds,
  });
  if (!begun.is_whole) await storeRows(importer, { path, day, map, file, summary, offset: begun.rows });
  const compared = await compareDay(importer, { day, file, summary }, map.within_minutes * MINUTE_MS);
  return { day, rows: summary.rows, stored: begun.is_whole ? 0 : summary.rows - begun.rows, ...compared };
};

const mapText = (map: ColumnMap): string =>
  JSON.stringify(map, (_, value: unknown) => (value instanceof Map ? [...value] : value));

/** An import that was interrupted continues behind the rows that are stored. */
const storeRows = async (
  importer: Importer,
  {
    path,
    day,
    map,
    file,
    summary,
    offset,
  }: {
    readonly path: string;
    readonly day: string;
    readonly map: ColumnMap;
    readonly file: string;
    readonly summary: StatementSummary;
    readonly offset: number;
  },
): Promise<void> => {
  const progress = progressEvery(PROGRESS_MS, importer);
  const { rows: total, closing, sha256 } = summary;
  const hash = createHash("sha256");
  let stored = offset;
  let seen = 0;
  let rows: ActionInput<"reconciliation files append">["rows"] = [];
  const send = async (is_last: boolean): Promise<void> => {
    const sent = { day, file, offset: stored, rows, is_last, ...(is_last && closing && { closing }) };
    stored = (await sentAgain(() => importer.act("reconciliation files append", sent))).rows;
    rows = [];
    progress(() => `${stored} of ${total} rows stored (${Math.floor((stored / total) * 100)} %)`);
  };
  for await (const { row } of readStatement(path, map, (bytes) => void hash.update(bytes))) {
    if (row === undefined) continue;
    seen += 1;
    if (seen > total) break;
    if (seen <= offset) continue;
    rows.push(row);
    if (rows.length === STATEMENT_ROWS_MAX && seen < total) await send(false);
  }
  // The last rows make the file whole, under the hash of what was read first.
  if (seen !== total || hash.digest("hex") !== sha256)
    throw new OperatorError(
      `${path} changed while it was imported: run reconciliation files remove ${day} ${sha256} --why REASON, then import it again`,
    );
  await send(true);
};

/** Tries of a request that may be sent again. */
const TRIES = 3;

/** A connection may break once in a thousand requests. A refusal is final. */
const sentAgain = async <Result>(send: () => Promise<Result>): Promise<Result> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await send();
    } catch (error) {
      if (error instanceof OperatorError || attempt === TRIES) throw error;
    }
  }
};

type ImportedFile = { readonly day: string; readonly file: string; readonly summary: StatementSummary };

/** Throws OperatorError if the rows that are stored for the file, which another person may have sent, are not its rows. */
const compareDay = async (
  importer: Importer,
  { day, file, summary: { sha256, rowsSha256 } }: ImportedFile,
  withinMs: number,
): Promise<Pick<Imported, "open_cases" | "totals">> => {
  const shown = await importer.act("reconciliation statements show", { day });
  const { revision, comparison: replaces, files } = shown;
  const place = files.findIndex((each) => each.file === file);
  const { makeParts, remove } = partsOnDisk();
  try {
    const matcher = statementMatcher(makeParts, withinMs);
    const progress = progressEvery(PROGRESS_MS, importer);
    let read = 0;
    const stored = rowsHash();
    const rowPages = pagesOf((cursor) => sentAgain(() => importer.act("reconciliation rows list", { day, cursor })));
    for await (const { rows } of rowPages) {
      for (const row of rows) {
        matcher.addRow(row);
        if (row.file === place) stored.add({ ...row, isForNumber: row.phone_hash !== undefined });
      }
      read += rows.length;
      progress(() => `${read} rows read back`);
    }
    if (stored.digest() !== rowsSha256) {
      throw new OperatorError(
        `The rows stored by ${files[place]?.by} are not those of this file: run reconciliation files remove ${day} ${sha256} --why REASON, then import it again`,
      );
    }
    read = 0;
    const orderPages = pagesOf((cursor) =>
      sentAgain(() => importer.act("reconciliation orders list", { day, within_ms: withinMs, cursor })),
    );
    for await (const { orders } of orderPages) {
      for (const order of orders) matcher.addOrder(order);
      read += orders.length;
      progress(() => `${read} orders read`);
    }
    return await putCases(importer, { day, revision, comparison: randomUUID(), replaces }, matcher.findings());
  } finally {
    remove();
  }
};

const putCases = async (
  importer: Importer,
  comparison: Pick<ActionInput<"reconciliation cases put">, "day" | "revision" | "comparison" | "replaces">,
  findings: Iterable<Finding>,
): Promise<Pick<Imported, "open_cases" | "totals">> => {
  const totals = new Map<FindingClass, Totals[number]>();
  const cases: SentCase[] = [];
  for (const finding of findings) {
    count(totals, finding);
    const facts = caseFactsOf(finding);
    if (facts.class !== "matched") cases.push({ ...facts, class: facts.class, case: caseIdOf(finding) });
    if (cases.length > CASES_PER_DAY_MAX) {
      throw new OperatorError(
        `More than ${CASES_PER_DAY_MAX} differences, of which none was stored: check the columns, the time zone and the day`,
      );
    }
  }
  const found = new Set(cases.map((each) => each.case));
  const gone = (await casesOf(importer, comparison.day))
    .filter(({ state, case: id }) => state !== "withdrawn" && !found.has(id))
    .map((each) => each.case);
  const listed = findingClasses.flatMap((name) => totals.get(name) ?? []);
  for (const withdraw of batchesOf(gone, CASES_MAX)) {
    await sentAgain(() =>
      importer.act("reconciliation cases put", { ...comparison, put: [], withdraw: [...withdraw] }),
    );
  }
  for (let start = 0; ; start += CASES_MAX) {
    const put = cases.slice(start, start + CASES_MAX);
    const isLast = start + CASES_MAX >= cases.length;
    const sent = { ...comparison, put, withdraw: [], ...(isLast && { totals: listed }) };
    const { open_cases } = await sentAgain(() => importer.act("reconciliation cases put", sent));
    if (isLast) return { open_cases, totals: listed };
  }
};

/** Adds what each side charges. An order that further rows are about counts with its first row only. */
const count = (totals: Map<FindingClass, Totals[number]>, { class: name, order, row }: Finding): void => {
  const isRepeat = name === "charged_twice" || name === "only_theirs";
  const { count: counted, ours_kobo, theirs_kobo } = totals.get(name) ?? { count: 0, ours_kobo: 0, theirs_kobo: 0 };
  totals.set(name, {
    class: name,
    count: counted + 1,
    ours_kobo: ours_kobo + (isRepeat ? 0 : chargeOf(order)),
    theirs_kobo: theirs_kobo + chargeOf(row),
  });
};

const chargeOf = (side: Finding["order"] | Finding["row"]): number =>
  side === undefined || side.status === "failed" ? 0 : side.amount_kobo;

export type Case = ActionOutput<"reconciliation cases list">["cases"][number];

export const casesOf = async (importer: Importer, day: string): Promise<readonly Case[]> => {
  const pages = await Array.fromAsync(pagesOf((cursor) => importer.act("reconciliation cases list", { day, cursor })));
  return pages.flatMap(({ cases }) => cases);
};

/** Says how far a long command is, at most once in this time. */
const progressEvery = (everyMs: number, { onProgress }: Importer): ((text: () => string) => void) => {
  let saidAtMs = Date.now();
  return (text) => {
    const nowMs = Date.now();
    if (nowMs - saidAtMs < everyMs) return;
    saidAtMs = nowMs;
    onProgress(text());
  };
};
