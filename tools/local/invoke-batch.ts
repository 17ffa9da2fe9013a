import * as z from "#zod";
import { errorFields } from "../../shared/platform/log.ts";
import type { Invoke } from "./functions.ts";
import { localLog } from "./local-log.ts";

/** A function's response to a batch; without one, every record succeeded. */
const batchResponse = z.nullish(
  z.object({ batchItemFailures: z.nullish(z.array(z.object({ itemIdentifier: z.string().check(z.minLength(1)) }))) }),
);

/**
 * Invokes a function with a batch of records; resolves with the ids of those that failed. All have failed if the function
 * throws or names a record that is not in the batch. Source: AWS, "Handling errors for an SQS event source in Lambda".
 */
export const failedOf = async <BatchRecord>(
  { functionName, invoke }: { readonly functionName: string; readonly invoke: Invoke },
  records: readonly BatchRecord[],
  idOf: (record: BatchRecord) => string,
): Promise<ReadonlySet<string>> => {
  const ids = new Set(records.map(idOf));
  try {
    const response = batchResponse.parse(await invoke(functionName, { Records: records }));
    const failed = new Set(response?.batchItemFailures?.map(({ itemIdentifier }) => itemIdentifier));
    return [...failed].every((id) => ids.has(id)) ? failed : ids;
  } catch (error) {
    localLog.error("invocation.failed", { function: functionName, ...errorFields(error) });
    return ids;
  }
};
