import type * as z from "zod";
import { runs } from "../../shared/actions/runs.ts";
import {
  type ActionInput,
  type ActionName,
  type ActionOutput,
  actions,
} from "../../shared/contract/actions/actions.ts";
import { InFlightError } from "../../shared/platform/operator-error.ts";
import { sleep } from "../../shared/platform/time.ts";
import type { AdminContext } from "./context.ts";
import { duration } from "./views/print.ts";

const outputs: { readonly [Name in ActionName]: { readonly output: z.ZodType<ActionOutput<Name>> } } = actions;

/** Performs an action: all that its command asks of the service. */
export const perform = async <Name extends ActionName>(
  context: AdminContext,
  name: Name,
  input: ActionInput<Name>,
): Promise<ActionOutput<Name>> => {
  const run = runs[name];
  return outputs[name].output.parse(await afterFlight(() => run(context, input)));
};

/** If a request may still settle the transaction that is to be resolved, waits for the end of that request first. */
const afterFlight = async <Result>(act: () => Promise<Result>): Promise<Result> => {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof InFlightError)) throw error;
    const { retryAfterMs } = error;
    process.stderr.write(`The transaction's request may still be running: waiting ${duration(retryAfterMs)} ...\n`);
    await sleep(retryAfterMs);
    return act();
  }
};
