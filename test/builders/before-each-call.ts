import { vi } from "vitest";
import type { DocumentClient } from "../../shared/platform/aws-clients.ts";

/** Acts before each call of an operation: counts it, changes it, lets time pass, or fails it by an error. */
export const beforeEachCall = <Operation extends keyof DocumentClient>(
  db: DocumentClient,
  operation: Operation,
  act: (input: Parameters<DocumentClient[Operation]>[0]) => unknown,
) => {
  const spied: keyof DocumentClient = operation;
  const call = db[spied];
  return vi.spyOn(db, spied).mockImplementation(async (...input: readonly unknown[]) => {
    await Reflect.apply(act, undefined, input);
    return Reflect.apply(call, db, input);
  });
};
