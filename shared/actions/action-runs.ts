import type * as z from "#zod";
import type { ActionTable } from "../contract/actions/action.ts";
import type { ActionContext } from "./action-context.ts";

/** The code of each action of a table, typed by the action's own schemas. Throws OperatorError if it is refused. */
export type ActionRuns<Table extends ActionTable, Context = ActionContext> = {
  readonly [Name in keyof Table]: (
    context: Context,
    input: z.output<Table[Name]["input"]>,
  ) => Promise<z.input<Table[Name]["output"]>>;
};
