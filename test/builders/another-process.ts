import { vi } from "vitest";
import type { DocumentClient } from "../../shared/platform/aws-clients.ts";

/** Has another process act just before the next call of an operation, so that the caller has read what is old. */
export const beforeNext = (db: DocumentClient, operation: keyof DocumentClient, act: () => Promise<unknown>): void => {
  const call = db[operation];
  vi.spyOn(db, operation).mockImplementationOnce(async (...input: readonly unknown[]) => {
    await act();
    return Reflect.apply(call, db, input);
  });
};

/** The same, just after it: what the call has read is old. */
export const afterNext = (db: DocumentClient, operation: keyof DocumentClient, act: () => Promise<unknown>): void => {
  const call = db[operation];
  vi.spyOn(db, operation).mockImplementationOnce(async (...input: readonly unknown[]) => {
    const answer = await Reflect.apply(call, db, input);
    await act();
    return answer;
  });
};
