import { AsyncLocalStorage } from "node:async_hooks";
import type { Readable, Writable } from "node:stream";

/** What a command reads and writes: `process`, or its substitute for one of several commands in a process. */
export type Terminal = {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  /** The result only. */
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly env: Readonly<Record<string, string | undefined>>;
  exitCode?: number | string | null | undefined;
};

const terminals = new AsyncLocalStorage<Terminal>();

export const terminal = (): Terminal => terminals.getStore() ?? process;

/** Has all that a piece of work does read and write there. */
export const onTerminal = <Result>(on: Terminal, work: () => Promise<Result>): Promise<Result> =>
  terminals.run(on, work);

/** A line for the person at the terminal. */
export const printMessage = (line: string): void => {
  terminal().stderr.write(`${line}\n`);
};
