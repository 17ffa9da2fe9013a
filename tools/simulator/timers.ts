/** Timers that do not keep the process alive and are all cleared when the simulator stops or is reset. */
export class Timers {
  readonly #pending = new Map<NodeJS.Timeout, () => void>();

  /** Runs the task after the delay, unless the timers are cleared before. */
  after(delayMs: number, task: () => void): void {
    this.#start(delayMs, task, () => undefined);
  }

  /** Waits; clearing the timers ends the wait, so no request is left open. */
  async wait(delayMs: number): Promise<void> {
    if (delayMs > 0) await new Promise<void>((resolve) => this.#start(delayMs, resolve, resolve));
  }

  clear(): void {
    const pending = [...this.#pending];
    this.#pending.clear();
    for (const [timer, onClear] of pending) {
      clearTimeout(timer);
      onClear();
    }
  }

  #start(delayMs: number, task: () => void, onClear: () => void): void {
    const timer = setTimeout(() => {
      this.#pending.delete(timer);
      task();
    }, delayMs);
    timer.unref();
    this.#pending.set(timer, onClear);
  }
}
