import { AsyncLocalStorage } from "node:async_hooks";
import type { Readable, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { escapeControls } from "../../shared/contract/values/control-characters.ts";

/**
 * What a command reads and writes: `process`, or its substitute for one of several commands in a process. It is written
 * to by this file only, which escapes control characters: stored text must not control the operator's terminal.
 */
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

/** Text for the person at the terminal. */
export const writeMessage = (text: string): void => {
  terminal().stderr.write(escapeControls(text));
};

/** A line for the person at the terminal. */
export const printMessage = (line: string): void => writeMessage(`${line}\n`);

/** The command line's own text, such as help. */
export const writeText = (text: string): void => {
  const { stdout } = terminal();
  if (stdout.listenerCount("error") === 0) stdout.on("error", unlessReaderEnded);
  stdout.write(escapeControls(text));
};

/** Parts are printed as they come. `| head` may end before all is printed: the command is done nevertheless. */
export const printResult = async (text: string | AsyncIterable<string>): Promise<void> => {
  try {
    await pipeline(linesOf(text), terminal().stdout, { end: false }).catch(unlessReaderEnded);
  } catch (error) {
    // A text is whole before it is printed, so what failed is not the command.
    throw typeof text === "string" ? new UnprintedError(error) : error;
  }
};

/** The command is done, but its result could not be written, for example to a full disk. */
export class UnprintedError extends Error {
  override readonly name = "UnprintedError";
  constructor(cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(`The command is done, but its result could not be written (${reason}).`, { cause });
  }
}

async function* linesOf(text: string | AsyncIterable<string>): AsyncGenerator<string> {
  for await (const part of typeof text === "string" ? [text] : text) yield escapeControls(part);
  yield "\n";
}

const unlessReaderEnded = (error: unknown): void => {
  if (!(error instanceof Error && "code" in error && error.code === "EPIPE")) throw error;
};
