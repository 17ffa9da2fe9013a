import type * as z from "#zod";
import { needsReason } from "../../shared/contract/actions/action.ts";
import {
  type ActionInput,
  type ActionName,
  type ActionOutput,
  actions,
} from "../../shared/contract/actions/actions.ts";
import { InFlightError, OperatorError } from "../../shared/platform/operator-error.ts";
import { sleep } from "../../shared/platform/time.ts";
import type { AdminContext } from "./context.ts";
import { sendAction } from "./send-action.ts";
import { printMessage } from "./terminal.ts";
import { duration } from "./views/print.ts";

const outputs: { readonly [Name in ActionName]: { readonly output: z.ZodMiniType<ActionOutput<Name>> } } = actions;

/** The services that commands of this process have changed. */
const changed = new WeakSet<AdminContext["target"]>();

/** Whether this command has made a change: of one that is refused then, a part is done. */
export const hasChanged = ({ target }: AdminContext): boolean => changed.has(target);

/** Performs an action: all that its command asks of the service. */
export const perform = async <Name extends ActionName>(
  context: AdminContext,
  name: Name,
  input: ActionInput<Name>,
): Promise<ActionOutput<Name>> => {
  if (needsReason(actions[name])) requireReason(context, "why" in input ? input.why : undefined);
  const act = async (): Promise<unknown> => {
    if (!context.isDirect) return sendAction(context, name, input);
    // Few commands are direct, and loading this takes as long as the rest of one.
    const { runs } = await import("../../shared/actions/runs.ts");
    return runs[name](context, input);
  };
  const output = await afterFlight(act);
  if (actions[name].kind === "change") changed.add(context.target);
  return outputs[name].output.parse(output);
};

/** A change of money or of who may call has a reason on a deployed stage; its function requires one too. */
export const requireReason = ({ target }: Pick<AdminContext, "target">, why: unknown): void => {
  if (target.isLocal || why !== undefined) return;
  throw new OperatorError("--why: Is required on a deployed stage");
};

/** If a request may still settle the transaction that is to be resolved, waits for the end of that request first. */
const afterFlight = async <Result>(act: () => Promise<Result>): Promise<Result> => {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof InFlightError)) throw error;
    const { retryAfterMs } = error;
    printMessage(`The transaction's request may still be running: waiting ${duration(retryAfterMs)} ...`);
    await sleep(retryAfterMs);
    return act();
  }
};
