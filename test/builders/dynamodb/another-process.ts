import { onTestFinished, vi } from "vitest";
import type { DocumentClient } from "../../../shared/platform/aws-clients.ts";

type Act = () => Promise<unknown>;
type Call = () => ReturnType<DocumentClient[keyof DocumentClient]>;

/** Has another process act just before the next call of an operation, so that the caller has read what is old. */
export const beforeNext = (db: DocumentClient, operation: keyof DocumentClient, act: Act): void =>
  atNext(db, operation, async (call) => {
    await act();
    return call();
  });

/** The same, just after it: what the call has read is old. */
export const afterNext = (db: DocumentClient, operation: keyof DocumentClient, act: Act): void =>
  atNext(db, operation, async (call) => {
    const answer = await call();
    await act();
    return answer;
  });

/** The spies whose next call is still to come. */
const waiting = new WeakSet<object>();

/** A test in which the call does not come fails: nothing has acted, so it shows nothing. */
const atNext = (
  db: DocumentClient,
  operation: keyof DocumentClient,
  around: (call: Call) => ReturnType<Call>,
): void => {
  const call = db[operation];
  const spy = vi.spyOn(db, operation);
  if (waiting.has(spy)) throw new Error(`Another process acts at the next ${operation} already`);
  waiting.add(spy);
  spy.mockImplementationOnce((...input: readonly unknown[]) => {
    waiting.delete(spy);
    return around(() => Reflect.apply(call, db, input));
  });
  onTestFinished(() => {
    if (waiting.delete(spy)) throw new Error(`No other process has acted: there was no ${operation}`);
  });
};
