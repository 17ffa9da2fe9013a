import { AsyncLocalStorage, AsyncResource } from "node:async_hooks";
import type { FaultPlan } from "./effects.ts";
import { eventQueue, type Timed } from "./event-queue.ts";
import { meet } from "./realities.ts";

/**
 * Simulated time. It stands still while code is at work, and jumps to the next event once nothing can go on without
 * one. So what happens depends on the seed alone, and not on the machine. An event is a timer of our code, bytes that
 * arrive, or something that happens to AWS.
 */
export type Event = Timed & {
  readonly act: () => void;
  /** Whose event it is: a process that is frozen meets it once it is thawed, a dead one never. */
  readonly owner: Process | undefined;
  readonly kind: "timer" | "socket" | "world";
  isOver: boolean;
};

/** A process of the service, or an operator's command. */
export type Process = {
  readonly name: string;
  state: "runs" | "frozen" | "dead";
  /** How far its clock is ahead of the simulated time. */
  clockAheadMs: number;
  /** The events since it was frozen. */
  readonly held: Event[];
  /** The faults of its present work. */
  plan: FaultPlan;
  /** The faults of everybody, where the plan has none. It is asked again for each attempt of a call. */
  readonly weather: FaultPlan;
  /** Ends it, as `kill -9` does. */
  die: () => void;
  /** It connects for the first time: its modules have been fetched. */
  loaded: () => void;
};

/** The process whose code is at work; undefined for the test itself, and for what stands around the service. */
export const processes = new AsyncLocalStorage<Process>();

let nowMs = 0;
let made = 0;
let events = eventQueue<Event>();

export const now = (): number => nowMs;

/** Time passes for everybody. What happens in it happens when the next work begins. */
export const advance = (byMs: number): void => {
  nowMs += byMs;
};

/** Has something happen so much later. */
export const schedule = (delayMs: number, act: () => void, owner?: Process, kind: Event["kind"] = "world"): Event =>
  insert({ atMs: nowMs + delayMs, order: 0, act, owner, kind, isOver: false });

const insert = (event: Event): Event => {
  made += 1;
  event.order = made;
  events.add(event);
  return event;
};

/** Waits in simulated time, for what stands around the service. */
export const pass = (delayMs: number): Promise<void> => new Promise((wake) => schedule(delayMs, wake));

const takeNext = (): Event | undefined => {
  for (let next = events.takeFirst(); next !== undefined; next = events.takeFirst()) {
    if (next.isOver || next.owner?.state === "dead") continue;
    if (next.owner?.state !== "frozen") return next;
    next.owner.held.push(next);
  }
  return undefined;
};

export const freeze = (process: Process): void => {
  if (process.state === "runs") process.state = "frozen";
};

/** Something happens to the connections of a frozen process. */
export const miss = (process: Process, act: () => void): void => {
  process.held.push({ atMs: nowMs, order: 0, act, owner: process, kind: "socket", isOver: false });
};

/** How a process goes on that was frozen: with what its timers or its sockets missed, or with its new work. */
export const awakenings = ["timer", "socket", "work"] as const;
export type Awakening = (typeof awakenings)[number];

/** Timers that are due fire last, unless they come first: Node's event loop reads sockets before. */
export const thaw = (process: Process, first: Awakening, begin: () => void): void => {
  process.state = "runs";
  const missed = process.held.splice(0).filter(({ isOver }) => !isOver);
  const kinds = new Set(missed.map(({ kind }) => kind));
  if (first === "timer" && kinds.size > 1) meet("a thaw in which timers fire before sockets are read");
  for (const event of missed.filter(({ kind }) => kind === first)) again(event);
  schedule(0, begin, process);
  const rest = missed.filter(({ kind }) => kind !== first);
  for (const event of rest.toSorted((one, other) => (one.kind < other.kind ? -1 : 1))) again(event);
};

const again = (event: Event): Event => insert(Object.assign(event, { atMs: nowMs }));

/** Work outside the simulation, such as a call of an emulator: time stands still until it is done. */
let atWork = 0;
let rest = Promise.withResolvers<void>();
/** Time stands still until the returned function is called. */
export const hold = (): (() => void) => {
  atWork += 1;
  let isHeld = true;
  return () => {
    if (!isHeld) return;
    isHeld = false;
    atWork -= 1;
    if (atWork > 0) return;
    rest.resolve();
    rest = Promise.withResolvers();
  };
};

export const outside = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  const release = hold();
  try {
    return await processes.exit(work);
  } finally {
    release();
  }
};

const { setTimeout: realSetTimeout, clearTimeout: realClearTimeout, setImmediate: immediate } = globalThis;
/** Rounds of the event loop in which whatever can go on without an event does so. */
const ROUNDS = 3;

const settled = async (): Promise<void> => {
  for (let quiet = 0; quiet < ROUNDS; ) {
    await (atWork > 0 ? rest.promise : new Promise((wake) => immediate(wake)));
    quiet = atWork > 0 ? 0 : quiet + 1;
  }
};

/** What is under way, by what makes it fail. */
const underWay = new Set<(error: unknown) => void>();
let isPumping = false;

/** Runs work in simulated time until it has ended. Works may overlap. */
export const simulate = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  const failure = Promise.withResolvers<never>();
  underWay.add(failure.reject);
  try {
    const result = Promise.race([work(), failure.promise]);
    if (!isPumping) void pump();
    return await result;
  } finally {
    underWay.delete(failure.reject);
  }
};

/** Has everything happen that is due. */
export const catchUp = (): Promise<void> =>
  (events.first()?.atMs ?? nowMs + 1) <= nowMs ? simulate(() => pass(0)) : settled();

const pump = async (): Promise<void> => {
  isPumping = true;
  try {
    for (;;) {
      await settled();
      if (underWay.size === 0) return;
      const next = takeNext();
      if (next === undefined) throw new Error("Nothing can go on, and not everything has ended");
      nowMs = Math.max(nowMs, next.atMs);
      next.isOver = true;
      next.act();
    }
  } catch (error) {
    for (const fail of underWay) fail(error);
  } finally {
    isPumping = false;
  }
};

/** A timer of a process. */
class Timer {
  #event: Event;
  readonly #delayMs: number;

  constructor(act: () => void, delayMs: number, owner: Process) {
    this.#delayMs = Math.max(1, Math.floor(delayMs) || 1);
    this.#event = schedule(this.#delayMs, AsyncResource.bind(act), owner, "timer");
  }

  ref = (): this => this;
  unref = (): this => this;
  hasRef = (): boolean => true;
  close = (): this => {
    this.#event.isOver = true;
    return this;
  };
  refresh = (): this => {
    this.close();
    this.#event = schedule(this.#delayMs, this.#event.act, this.#event.owner, "timer");
    return this;
  };
  [Symbol.dispose] = this.close;
}

const timeoutSignal = AbortSignal.timeout.bind(AbortSignal);

/** Node's own reads the machine's clock. */
const simulatedSignal = (delayMs: number): AbortSignal => {
  if (processes.getStore() === undefined) return timeoutSignal(delayMs);
  const controller = new AbortController();
  setTimeout(() => controller.abort(new DOMException("The time is up", "TimeoutError")), delayMs);
  return controller.signal;
};

/**
 * Has the clock and the timers of processes follow the simulated time, and everybody else's clock. Returns the function
 * that undoes it.
 */
export const openClock = (startMs: number): (() => void) => {
  const realNow = Date.now;
  nowMs = startMs;
  events = eventQueue();
  Date.now = () => Math.floor(nowMs) + (processes.getStore()?.clockAheadMs ?? 0);
  const start = (act: (...args: unknown[]) => void, delayMs = 0, ...args: unknown[]) => {
    const owner = processes.getStore();
    return owner ? new Timer(() => act(...args), delayMs, owner) : realSetTimeout(act, delayMs, ...args);
  };
  Object.assign(globalThis, {
    setTimeout: Object.assign(start, realSetTimeout),
    clearTimeout: (timer: unknown) =>
      timer instanceof Timer ? void timer.close() : Reflect.apply(realClearTimeout, undefined, [timer]),
  });
  AbortSignal.timeout = simulatedSignal;
  return () => {
    Date.now = realNow;
    Object.assign(globalThis, { setTimeout: realSetTimeout, clearTimeout: realClearTimeout });
    AbortSignal.timeout = timeoutSignal;
  };
};
