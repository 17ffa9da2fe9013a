import { onTestFinished, vi } from "vitest";
import type { DocumentClient } from "../../../shared/platform/aws-clients.ts";

/** An operation that no test has replaced: a spy of a spy is the same spy, and would call itself without end. */
export const unspied = <Operation extends keyof DocumentClient>(
  db: DocumentClient,
  operation: Operation,
): DocumentClient[Operation] => {
  const call = db[operation];
  if (vi.isMockFunction(call))
    throw new Error(`The client has a spy on ${operation}: restore it, or use another client`);
  return call;
};

/** Acts before each call of an operation: counts it, changes it, lets time pass, or fails it by an error. A test without one fails. */
export const beforeEachCall = <Operation extends keyof DocumentClient>(
  db: DocumentClient,
  operation: Operation,
  act: (input: Parameters<DocumentClient[Operation]>[0]) => unknown,
) => {
  const spied: keyof DocumentClient = operation;
  const call = unspied(db, spied);
  let hasActed = false;
  onTestFinished(() => {
    if (!hasActed) throw new Error(`There was no ${spied} to act before`);
  });
  return vi.spyOn(db, spied).mockImplementation(async (...input: readonly unknown[]) => {
    hasActed = true;
    await Reflect.apply(act, undefined, input);
    return Reflect.apply(call, db, input);
  });
};
