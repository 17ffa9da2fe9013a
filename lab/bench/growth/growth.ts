import { BATCHES_AT_ONCE } from "../../../shared/ledger/get-item.ts";
import { markdownTable, wrap } from "../../../tools/markdown/markdown.ts";
import type { Part } from "../part.ts";
import { digits, milliseconds } from "../statistics.ts";
import { withoutLogs } from "../without-logs.ts";
import { type CallerResults, callerCounts, callerModes, measureCallers } from "./callers.ts";
import { measurePlans, type PlanResults, planCounts } from "./plans.ts";
import { measureTransactions, type TransactionResults, transactionCounts } from "./transactions.ts";

export const growth: Part = {
  description: "measures more callers, more plans and more transactions; about three minutes",
  measure: async (report) => {
    const callers = await measureCallers();
    report("callers are measured; plans are next");
    const plans = await withoutLogs(measurePlans);
    report("plans are measured; transactions are next");
    const transactions = await withoutLogs(() => measureTransactions(report));
    return { sections: { growth: growthText(callers, plans, transactions) } };
  },
};

/** A measurement at each size. */
type Row = readonly [title: string, ...cells: string[]];

const COLUMNS = Math.max(callerCounts.length, planCounts.length, transactionCounts.length);

const growthText = (
  callers: readonly CallerResults[],
  plans: readonly PlanResults[],
  transactions: readonly TransactionResults[],
): string => {
  const rows = [
    sizes("concurrent callers", callerCounts),
    ...callerModes.flatMap((mode) => callerRows(mode, callers)),
    sizes("plans in the catalog", planCounts),
    measurement("answer, gzip", plans, ({ answerBytes }) => `${digits(answerBytes)} B`),
    measurement("catalog, warm, p50", plans, ({ listWarmMs }) => milliseconds(listWarmMs)),
    measurement("catalog, first request, p50", plans, ({ listColdMs }) => milliseconds(listColdMs)),
    measurement("live purchase, warm, p50", plans, ({ buyWarmMs }) => milliseconds(buyWarmMs)),
    measurement("live purchase, first request, p50", plans, ({ buyColdMs }) => milliseconds(buyColdMs)),
    sizes("transactions in an account", transactionCounts),
    measurement("first page of the list", transactions, ({ pageMs }) => milliseconds(pageMs)),
    measurement("statement of the last month", transactions, ({ statementMs }) => milliseconds(statementMs)),
    measurement("first reconciliation", transactions, ({ reconciliationMs }) => milliseconds(reconciliationMs)),
    measurement("reconciliation of the next day", transactions, ({ nextReconciliationMs }) =>
      milliseconds(nextReconciliationMs),
    ),
  ];
  const [head = [], ...body] = rows.map((cells) =>
    Array.from({ length: COLUMNS + 1 }, (_, index) => cells[index] ?? ""),
  );
  return `${markdownTable([head, ...body])}

${notes(callers)}`;
};

const sizes = (title: string, counts: readonly number[]): Row => [
  `**${title}**`,
  ...counts.map((count) => `**${count.toLocaleString("en-GB")}**`),
];

const measurement = <Results>(title: string, measured: readonly Results[], text: (one: Results) => string): Row => [
  title,
  ...measured.map(text),
];

const callerRows = (mode: CallerResults["mode"], callers: readonly CallerResults[]): readonly Row[] => {
  const measured = callers.filter((one) => one.mode === mode);
  return [
    measurement(`${mode} purchases/s`, measured, ({ perSecond }) => digits(perSecond)),
    measurement(`${mode} purchase, p50`, measured, ({ durationMs }) => milliseconds(durationMs.p50)),
    measurement(`${mode} purchase, p99`, measured, ({ durationMs }) => milliseconds(durationMs.p99)),
  ];
};

const notes = (callers: readonly CallerResults[]): string => {
  const failed = callers.reduce((total, one) => total + one.failed, 0);
  const failures = failed > 0 ? ` ${failed} purchases failed, because the emulators were too slow.` : "";
  return wrap(`The callers buy from the local service, which is one process with one thread for the gateway, all functions,
    queues and streams, and also delivers a webhook for each purchase. On AWS each request has its own instance. The
    other results are of one request at a time.${failures} A statement and a first reconciliation sum from the beginning,
    in batches of 100 reads, ${BATCHES_AT_ONCE} at once. The largest account was measured once, the others several times.`);
};
