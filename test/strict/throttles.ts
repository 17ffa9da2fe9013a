import type { Chance } from "./chance.ts";
import type { Range } from "./settings.ts";

/** What a call takes throughput of. */
export type Touch = {
  readonly kind: "Read" | "Write";
  readonly table: string;
  /** Table and partition key as one text; absent where an index is queried. */
  readonly id?: string;
  readonly indexes: readonly string[];
  /** The keys of its indexes that it queries or changes. */
  readonly indexKeys?: readonly string[];
};

/** What is throttled, as AWS names it in the reason. */
export type Throttled = {
  readonly what: "key" | "table" | "index";
  readonly reason: string;
  readonly resource: string;
};

/** Which keys, tables and indexes are throttled, and until when. */
export type Throttles = {
  readonly refusalOf: (touch: Touch) => Throttled | undefined;
  /** A key of an index that is full. Every write that changes what the index has of it is refused, and every query. */
  fullIndexKey: string | undefined;
  /** How often it refused. */
  fullRefusals: number;
};

export const newThrottles = (share: () => number, throttledMs: Range, chance: Chance, now: () => number): Throttles => {
  const untilMs = new Map<string, number>();
  const throttles: Throttles = {
    fullIndexKey: undefined,
    fullRefusals: 0,
    refusalOf: (touch) => {
      const { table, kind, indexKeys = [], indexes } = touch;
      if (indexKeys.some((key) => key === throttles.fullIndexKey)) {
        throttles.fullRefusals += 1;
        const resource = `arn:aws:dynamodb:us-east-1:000000000000:table/${table}/index/${indexes.join()}`;
        return { what: "index", reason: `Index${kind}KeyRangeThroughputExceeded`, resource };
      }
      const scopes = scopesOf(touch);
      const begins = chance.happens(share()) ? chance.oneOf(scopes) : undefined;
      if (begins !== undefined) untilMs.set(begins.place, now() + chance.within(throttledMs));
      return scopes.find(({ place }) => (untilMs.get(place) ?? 0) > now());
    },
  };
  return throttles;
};

/** A write is throttled by each of its indexes as well: it cannot run ahead of them. */
const scopesOf = ({ kind, table, id, indexes }: Touch): (Throttled & { readonly place: string })[] => {
  const resource = `arn:aws:dynamodb:us-east-1:000000000000:table/${table}`;
  const tableScope = { what: "table" as const, reason: `Table${kind}AccountLimitExceeded`, resource };
  return [
    ...(id === undefined ? [] : [{ what: "key" as const, reason: `Table${kind}KeyRangeThroughputExceeded`, resource }]),
    ...(id === undefined ? [] : [tableScope]),
    ...indexes.map((index) => ({
      what: "index" as const,
      reason: `Index${kind}KeyRangeThroughputExceeded`,
      resource: `${resource}/index/${index}`,
    })),
  ].map((scope) => ({
    ...scope,
    place: JSON.stringify([kind, scope.what, scope.resource, scope.what === "key" && id]),
  }));
};
