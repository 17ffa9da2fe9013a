import { InFlightError } from "../../shared/platform/operator-error.ts";
import { sleep } from "../../shared/platform/time.ts";
import { duration } from "./views/print.ts";

/**
 * Resolves a transaction. If its own request may still settle it, waits for the end of that request first.
 */
export const afterFlight = async <Result>(reference: string, resolve: () => Promise<Result>): Promise<Result> => {
  try {
    return await resolve();
  } catch (error) {
    if (!(error instanceof InFlightError)) throw error;
    const { retryAfterMs } = error;
    process.stderr.write(`The request of ${reference} may still be running: waiting ${duration(retryAfterMs)} ...\n`);
    await sleep(retryAfterMs);
    return resolve();
  }
};
