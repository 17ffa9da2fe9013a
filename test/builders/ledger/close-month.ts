import type { ActionContext } from "../../../shared/actions/action-context.ts";
import { runs } from "../../../shared/actions/runs.ts";
import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";

type Closed = ActionOutput<"periods close">;

/** Closes a month as command and page do: call by call. `wait` passes the time that a call asks for. */
export const closeMonth = async (
  context: ActionContext,
  month: string,
  wait: (ms: number) => void | Promise<void>,
): Promise<Closed> => {
  let cursor: string | undefined;
  for (;;) {
    const result = await runs["periods close"](context, { month, cursor, why: "month end" });
    if (result.next_cursor === null) return result;
    await wait(result.wait_ms);
    cursor = result.next_cursor;
  }
};

/** All differences that a verification finds. */
export const verifyMonth = async (context: ActionContext, month: string) => {
  const differences: ActionOutput<"periods verify">["differences"] = [];
  let cursor: string | undefined;
  for (;;) {
    const result = await runs["periods verify"](context, { month, cursor });
    differences.push(...result.differences);
    if (result.next_cursor === null) return differences;
    cursor = result.next_cursor;
  }
};
