import { type Budget, budgets } from "../costs/budgets.ts";
import { markdownTable } from "./markdown.ts";

const rowOf = ({ title, runs, writeUnits, readUnits, log, answerBytes }: Budget): readonly string[] => {
  const { tables, indexes, refused = 0 } = writeUnits;
  const calls = runs.flatMap((run) => run.calls ?? []).length;
  return [
    title,
    `${calls}`,
    tables + indexes + refused === 0 ? "" : `${tables + refused} + ${indexes}`,
    readUnits === 0 ? "" : `${readUnits}`,
    `${runs.filter(({ sends }) => sends !== undefined).length || ""}`,
    `${log.events.length}`,
    `${log.bytes}`,
    answerBytes === undefined ? "" : `${answerBytes}`,
  ];
};

/** What each kind of request takes at most. */
export const requestTable = (): string =>
  markdownTable([
    [
      "request",
      "DynamoDB calls",
      "write units, tables + indexes",
      "read units",
      "messages",
      "log lines",
      "log, bytes",
      "answer, bytes",
    ],
    ...Object.values<Budget>(budgets).map(rowOf),
  ]);
