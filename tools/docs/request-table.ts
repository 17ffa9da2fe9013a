import { type Budget, budgets } from "../costs/budgets.ts";
import { markdownTable } from "../markdown/markdown.ts";

const rowOf = ({ title, invocations, writeUnits, readUnits, log, responseBytes }: Budget): readonly string[] => {
  const { tables, indexes, cancelled = 0 } = writeUnits;
  const callCount = invocations.flatMap(({ calls = [] }) => calls).length;
  return [
    title,
    `${callCount}`,
    tables + indexes + cancelled === 0 ? "" : `${tables + cancelled} + ${indexes}`,
    readUnits === 0 ? "" : `${readUnits}`,
    `${invocations.filter(({ sends }) => sends !== undefined).length || ""}`,
    `${log.events.length}`,
    `${log.bytes}`,
    responseBytes === undefined ? "" : `${responseBytes}`,
  ];
};

/** The budget of each kind of request. */
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
      "response, bytes",
    ],
    ...Object.values<Budget>(budgets).map(rowOf),
  ]);
