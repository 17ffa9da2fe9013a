import { transitions } from "../../shared/ledger/transaction-state.ts";
import { markdownTable } from "../markdown/markdown.ts";

const BEGINNING = "[*]";

/** The states of a transaction as a diagram, and its transitions as a table. */
export const transactionStates = (): string => {
  const edges = Object.values(transitions).map(({ from, ...rest }) => ({
    from: from.length === 0 ? [BEGINNING] : [...from],
    ...rest,
  }));
  const finals = ["success", "failed"];
  return [
    "```mermaid",
    "stateDiagram-v2",
    ...edges.flatMap(({ from, to, event }) => from.map((state) => `  ${state} --> ${to}: ${event}`)),
    ...finals.map((state) => `  ${state} --> ${BEGINNING}`),
    "```",
    "",
    markdownTable([
      ["from", "by", "to", "only if", "in the same write"],
      ...edges.map(({ from, event, to, condition, write }) => [
        from[0] === BEGINNING ? "(none)" : from.map((state) => `\`${state}\``).join(", "),
        event,
        `\`${to}\``,
        condition,
        write,
      ]),
    ]),
  ].join("\n");
};
