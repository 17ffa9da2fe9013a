import { join } from "node:path";
import { inspect } from "node:util";
import { Worker } from "node:worker_threads";
import type { PoolOptions, PoolWorker } from "vitest/node";

/** A test that runs for longer fails: a mutant may never end. */
export const TEST_TIMEOUT_MS = 20_000;

/** What the worker of one run hears, which ends with the run. */
type Listener = { readonly event: string; readonly callback: (message: unknown) => void };

/**
 * A thread for the tests of one mutant after the other, because to load the modules takes longer than to run most mutants'
 * tests. Each run loads its test files anew; the modules that they test, and the emulator, stay.
 */
class KeptWorker implements PoolWorker {
  readonly name = "kept";
  readonly #thread: Worker;
  readonly #listeners: Listener[] = [];
  #hasTimedOut = false;
  #isKept = false;

  constructor({ distPath, env, execArgv }: PoolOptions) {
    this.#thread = new Worker(join(distPath, "workers/threads.js"), { env, execArgv, stdout: true, stderr: true });
    // Output that nobody reads would block it.
    this.#thread.stdout.resume();
    this.#thread.stderr.resume();
    const timedOut = `timed out in ${TEST_TIMEOUT_MS}ms`;
    this.#thread.on("message", (message: { readonly m?: string }) => {
      if (message.m === "onTaskUpdate" && inspect(message, { depth: 9 }).includes(timedOut)) this.#hasTimedOut = true;
    });
  }

  on(event: string, callback: Listener["callback"]): void {
    this.#listeners.push({ event, callback });
    this.#thread.on(event, callback);
  }

  off(event: string, callback: Listener["callback"]): void {
    this.#thread.off(event, callback);
  }

  async start(): Promise<void> {
    this.#isKept = false;
    this.#thread.ref();
  }

  send(message: Parameters<PoolWorker["send"]>[0]): void {
    // A test that timed out may still be running.
    if (message.type !== "stop" || this.#hasTimedOut) {
      this.#thread.postMessage(message);
      return;
    }
    this.#isKept = true;
    const stopped = { type: "stopped", __vitest_worker_response__: true };
    for (const { event, callback } of this.#listeners) if (event === "message") callback(stopped);
  }

  async stop(): Promise<void> {
    for (const { event, callback } of this.#listeners.splice(0)) this.#thread.off(event, callback);
    if (!this.#isKept) {
      await this.#thread.terminate();
      return;
    }
    this.#thread.unref();
    idle = this;
  }

  deserialize(data: unknown): unknown {
    return data;
  }
}

/** The worker of the last run. */
let idle: KeptWorker | undefined;

export const createKeptWorker = (options: PoolOptions): KeptWorker => {
  const worker = idle ?? new KeptWorker(options);
  idle = undefined;
  return worker;
};
