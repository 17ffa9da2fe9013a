import { markdownTable } from "../../../tools/docs/markdown.ts";
import type { Part } from "../part.ts";
import { quietly } from "../quiet.ts";
import { digits, milliseconds } from "../samples.ts";
import { type CallerFigures, callerCounts, callerModes, measureCallers } from "./callers.ts";
import { measurePlans, type PlanFigures, planCounts } from "./plans.ts";
import { measureTransactions, type TransactionFigures, transactionCounts } from "./transactions.ts";

export const growth: Part = {
  says: "with more callers, more plans and more transactions; about three minutes.",
  measure: async (say) => {
    const callers = await measureCallers();
    say("callers are measured; plans are next");
    const plans = await quietly(measurePlans);
    say("plans are measured; transactions are next");
    const transactions = await quietly(() => measureTransactions(say));
    return {
      figures: { callers, plans, transactions },
      sections: { growth: growthText(callers, plans, transactions) },
    };
  },
};

/** A figure at each size of what grows. */
type Row = readonly [title: string, ...cells: string[]];

const COLUMNS = Math.max(callerCounts.length, planCounts.length, transactionCounts.length);

const growthText = (
  callers: readonly CallerFigures[],
  plans: readonly PlanFigures[],
  transactions: readonly TransactionFigures[],
): string => {
  const rows = [
    sizes("callers at the same time", callerCounts),
    ...callerModes.flatMap((mode) => callerRows(mode, callers)),
    sizes("plans in the catalog", planCounts),
    figure("answer, gzip", plans, ({ answerBytes }) => `${digits(answerBytes)} B`),
    figure("catalog, warm, p50", plans, ({ listWarmMs }) => milliseconds(listWarmMs)),
    figure("catalog, first request, p50", plans, ({ listColdMs }) => milliseconds(listColdMs)),
    figure("live purchase, warm, p50", plans, ({ buyWarmMs }) => milliseconds(buyWarmMs)),
    figure("live purchase, first request, p50", plans, ({ buyColdMs }) => milliseconds(buyColdMs)),
    sizes("transactions in an account", transactionCounts),
    figure("first page of the list", transactions, ({ pageMs }) => milliseconds(pageMs)),
    figure("statement of the last month", transactions, ({ statementMs }) => milliseconds(statementMs)),
    figure("proof from the beginning", transactions, ({ proofMs }) => milliseconds(proofMs)),
    figure("next day's proof", transactions, ({ nextProofMs }) => milliseconds(nextProofMs)),
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

const figure = <Figures>(title: string, measured: readonly Figures[], text: (one: Figures) => string): Row => [
  title,
  ...measured.map(text),
];

const callerRows = (mode: CallerFigures["mode"], callers: readonly CallerFigures[]): readonly Row[] => {
  const measured = callers.filter((one) => one.mode === mode);
  return [
    figure(`${mode} purchases a second`, measured, ({ perSecond }) => digits(perSecond)),
    figure(`${mode} purchase, p50`, measured, ({ durationMs }) => milliseconds(durationMs.p50)),
    figure(`${mode} purchase, p99`, measured, ({ durationMs }) => milliseconds(durationMs.p99)),
  ];
};

const notes = (callers: readonly CallerFigures[]): string => {
  const failed = callers.reduce((total, one) => total + one.failed, 0);
  const lost = failed > 0 ? ` ${failed} purchases failed, for the stand-ins for AWS were too slow for them.` : "";
  return `The callers buy from the local service: one process for the gateway, all functions, queues and streams, which also announces each purchase, so that more callers wait for its one thread; on AWS each has a function's instance. The other figures are of one request at a time, with nothing beside it.${lost} A statement sums from the beginning and is read in batches of 100, one after the other, and so is the first proof; the largest account was read once for each, the others several times.`;
};
