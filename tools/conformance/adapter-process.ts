import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { projectRoot } from "../../infra/bundle/project-root.ts";
import { SettingsError } from "../../infra/settings-error.ts";
import { jsonOf } from "../../shared/contract/values/json.ts";
import { sleep } from "../../shared/platform/time.ts";
import { type Answer, answerSchema, type Command } from "./protocol.ts";

/** How long an adapter may take to exit once it gets no more commands. */
const EXIT_MS_MAX = 30_000;

type Child = ChildProcessByStdio<Writable, Readable, null>;

/** They are killed when this process exits. */
const running = new Set<AdapterProcess>();

/** A client's program, which is started again after each kill, and then gets the commands without an answer again. */
export class AdapterProcess {
  /** Rejects if the program exits by itself or writes what is no answer. */
  readonly failure: Promise<never>;
  readonly #command: string;
  readonly #environment: NodeJS.ProcessEnv;
  readonly #open = new Map<string, { readonly command: Command; readonly resolve: (answer: Answer) => void }>();
  readonly #fail: (error: Error) => void;
  #child: Child;
  #isKilled = false;
  #isEnding = false;

  constructor(command: string, environment: NodeJS.ProcessEnv) {
    this.#command = command;
    this.#environment = environment;
    const { promise, reject } = Promise.withResolvers<never>();
    promise.catch(() => {});
    this.failure = promise;
    this.#fail = reject;
    this.#child = this.#start();
    running.add(this);
  }

  buy(command: Command): Promise<Answer> {
    return new Promise((resolve) => {
      this.#open.set(command.id, { command, resolve });
      this.#write(command);
    });
  }

  static {
    process.once("exit", () => {
      for (const adapter of running) adapter.#killGroup();
    });
  }

  /** kill -9 of the program with all processes that it has started. */
  kill(): void {
    if (this.#isEnding) return;
    this.#isKilled = true;
    this.#killGroup();
  }

  /** Ends its input, and kills it if it does not exit then. */
  async end(): Promise<void> {
    this.#isEnding = true;
    const child = this.#child;
    const ended = child.exitCode === null && child.signalCode === null ? once(child, "exit") : undefined;
    child.stdin.end();
    if (ended !== undefined) await Promise.race([ended, sleep(EXIT_MS_MAX)]);
    this.#killGroup();
    running.delete(this);
  }

  #killGroup(): void {
    try {
      if (this.#child.pid !== undefined) process.kill(-this.#child.pid, "SIGKILL");
    } catch {
      // It has ended.
    }
  }

  #start(): Child {
    this.#isKilled = false;
    const child = spawn("/bin/sh", ["-c", this.#command], {
      cwd: projectRoot,
      env: { ...process.env, ...this.#environment },
      stdio: ["pipe", "pipe", "inherit"],
      detached: true,
    });
    // It may be killed while a command is written.
    child.stdin.on("error", () => {});
    let unread = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      const lines = (unread + text).split("\n");
      unread = lines.pop() ?? "";
      for (const line of lines) this.#read(line);
    });
    child.once("close", (code) => {
      if (this.#isEnding) return;
      if (!this.#isKilled) {
        this.#fail(new SettingsError(`The client exited by itself, with exit code ${code}`));
        return;
      }
      this.#child = this.#start();
      for (const { command } of this.#open.values()) this.#write(command);
    });
    return child;
  }

  #write(command: Command): void {
    this.#child.stdin.write(`${JSON.stringify(command)}\n`);
  }

  #read(line: string): void {
    const { data: answer } = answerSchema.safeParse(jsonOf(line));
    const open = answer && this.#open.get(answer.id);
    if (answer === undefined || open === undefined) {
      this.#fail(new SettingsError(`The client wrote a line that is no answer to an open command: ${line}`));
      return;
    }
    this.#open.delete(answer.id);
    open.resolve(answer);
  }
}
