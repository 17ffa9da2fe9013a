/** Timers that never keep the process alive and that end together, when the simulator stops or is reset. */
export class Timers {
  readonly #pending = new Map<NodeJS.Timeout, () => void>();

  /** Acts after a while, or never if the timers are cleared before. */
  after(delayMs: number, act: () => void): void {
    this.#start(delayMs, act, () => undefined);
  }

  /** Waits; clearing the timers ends it early, so that no request is left hanging. */
  async wait(delayMs: number): Promise<void> {
    if (delayMs > 0) await new Promise<void>((resolve) => this.#start(delayMs, resolve, resolve));
  }

  clear(): void {
    const pending = [...this.#pending];
    this.#pending.clear();
    for (const [timer, whenCleared] of pending) {
      clearTimeout(timer);
      whenCleared();
    }
  }

  #start(delayMs: number, act: () => void, whenCleared: () => void): void {
    const timer = setTimeout(() => {
      this.#pending.delete(timer);
      act();
    }, delayMs);
    timer.unref();
    this.#pending.set(timer, whenCleared);
  }
}
