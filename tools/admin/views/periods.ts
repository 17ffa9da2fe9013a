import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { fields, nairaText, table } from "./print.ts";

/** A closed period with its sums by kind. */
export const periodText = ({ kinds, ...period }: ActionOutput<"periods show">): string =>
  `${fields({
    ...period,
    opening: nairaText(period.opening),
    closing: nairaText(period.closing),
  })}\n\n${table(
    ["kind", "count", "amount"],
    kinds.map(({ kind, count, amount }) => [kind, count, nairaText(amount)]),
  )}`;
