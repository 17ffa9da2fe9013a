import type * as z from "#zod";
import { type ReconciliationContext, reconciliationRuns } from "../../shared/actions/reconciliation.ts";
import type { ActionOutput } from "../../shared/contract/actions/actions.ts";
import { reconciliationActions } from "../../shared/contract/actions/reconciliation.ts";
import type { Importer } from "./import-statement.ts";

const outputs: {
  readonly [Name in keyof typeof reconciliationActions]: { readonly output: z.ZodMiniType<ActionOutput<Name>> };
} = reconciliationActions;

/** An importer whose actions run in this process, without a service. */
export const directImporter = (context: ReconciliationContext): Importer => ({
  act: async (name, input) => {
    const output: unknown = await reconciliationRuns[name](context, input);
    return outputs[name].output.parse(output);
  },
  onProgress: () => {},
});
