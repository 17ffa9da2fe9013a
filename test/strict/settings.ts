/** From `min` to `max`, both possible. */
export type Range = { readonly min: number; readonly max: number };

/**
 * What AWS may do and the emulators never do. Shares are of all calls, from 0 to 1; which calls they hit, and every
 * time within a range, is decided by a seed.
 */
export type StrictSettings = {
  /** How long a transaction holds its items. */
  readonly holdMs: Range;
  /** Share of writes that find one of their items held by a transaction that the test does not see. */
  readonly foreignHolds: number;
  /** Whether a cancelled transaction binds its token to its parameters, which AWS does not document. */
  readonly cancelledBindsToken: boolean;
  /** How far indexes may be behind the table; 0 is never. Reads without `ConsistentRead` are by 2 s at most. */
  readonly lagMaxMs: number;
  /** Share of calls at which a partition key, a table or an index begins to be throttled, for `throttledMs`. */
  readonly throttling: number;
  readonly throttledMs: Range;
  /** Share of calls that take effect and whose answer never comes; a transaction's items stay held for `lingerMs`. */
  readonly lostAnswers: number;
  readonly lingerMs: Range;
  /** Share of calls that take effect and are answered after `slowMs`. The clients give up after 2 s. */
  readonly slowAnswers: number;
  readonly slowMs: Range;
  /** The shares of queue messages that come twice or later, and whether their order is arbitrary. */
  readonly queues: { readonly duplicates: number; readonly late: number; readonly reordered: boolean };
  /** Share of calls to Secrets Manager that are throttled. */
  readonly secretsThrottling: number;
};

/** Nothing but what the emulators do, and the documented rules of tokens. */
const lenient: StrictSettings = {
  holdMs: { min: 0, max: 0 },
  foreignHolds: 0,
  cancelledBindsToken: false,
  lagMaxMs: 0,
  throttling: 0,
  throttledMs: { min: 20, max: 300 },
  lostAnswers: 0,
  lingerMs: { min: 0, max: 1_000 },
  slowAnswers: 0,
  slowMs: { min: 200, max: 2_500 },
  queues: { duplicates: 0, late: 0, reordered: false },
  secretsThrottling: 0,
};

const conflicts = { holdMs: { min: 0, max: 40 }, foreignHolds: 0.05 };
const lag = { lagMaxMs: 2_000 };
const throttling = { throttling: 0.01, lostAnswers: 0.005, slowAnswers: 0.005, secretsThrottling: 0.2 };
const queues = { queues: { duplicates: 0.1, late: 0.1, reordered: true } };

/** The settings under which money is tested. `perfect` has no strict layer at all: it is the emulator as it is. */
export const strictSettings = {
  perfect: undefined,
  conflicts: { ...lenient, ...conflicts },
  "conflicts, tokens bound": { ...lenient, ...conflicts, cancelledBindsToken: true },
  lag: { ...lenient, ...lag, ...queues },
  throttling: { ...lenient, ...throttling, cancelledBindsToken: true },
  everything: { ...lenient, ...conflicts, ...lag, ...throttling, ...queues, cancelledBindsToken: true },
} as const satisfies Readonly<Record<string, StrictSettings | undefined>>;

export type StrictName = keyof typeof strictSettings;

const isStrictName = (name: string): name is StrictName => Object.hasOwn(strictSettings, name);
export const strictNames: readonly StrictName[] = Object.keys(strictSettings).filter(isStrictName);

/** The settings of a run: all, or the one that STRICT_SETTING names. */
export const chosenSettings = (): readonly StrictName[] => {
  const name = process.env.STRICT_SETTING;
  if (name === undefined) return strictNames;
  if (!isStrictName(name)) throw new Error(`STRICT_SETTING is none of ${strictNames.join(" | ")}`);
  return [name];
};
