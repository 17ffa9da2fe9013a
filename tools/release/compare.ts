import { ownerOfDemand, type Surface } from "./surface-schema.ts";

export type Level = "none" | "minor" | "major";

/** What changed between two surfaces, and which part of the version must be raised for it. */
export type Comparison = {
  readonly level: Level;
  readonly breaking: readonly string[];
  readonly added: readonly string[];
};

const changesOf = (before: Surface["offers"], after: Surface["offers"]) => ({
  added: Object.keys(after).filter((key) => !Object.hasOwn(before, key)),
  removed: Object.keys(before).filter((key) => !Object.hasOwn(after, key)),
  changed: Object.keys(after).filter((key) => Object.hasOwn(before, key) && before[key] !== after[key]),
});

/** The texts that a type of the client allows: `"a" | "b"`. */
const TEXTS = /"[^"]*"(?: \| "[^"]*")*/g;

/** Whether a type differs only in further texts that it allows: as in the OpenAPI document, a new value breaks nobody. */
const hasMoreTexts = (before: string, after: string): boolean => {
  const allowed = (after.match(TEXTS) ?? []).map((texts) => texts.split(" | "));
  return (
    before.replaceAll(TEXTS, "") === after.replaceAll(TEXTS, "") &&
    (before.match(TEXTS) ?? []).every((texts, index) =>
      texts.split(" | ").every((text) => allowed[index]?.includes(text)),
    )
  );
};

/** Whether a surface has the thing, or anything in it. */
const has = ({ offers }: Surface, path: string): boolean =>
  Object.keys(offers).some((offer) => offer.startsWith(path) && /^($|[ :.[])/.test(offer.slice(path.length)));

export const compareSurfaces = (before: Surface, after: Surface): Comparison => {
  const offers = changesOf(before.offers, after.offers);
  const demands = changesOf(before.demands, after.demands);
  const grown = offers.changed.filter((key) => hasMoreTexts(before.offers[key] ?? "", after.offers[key] ?? ""));
  const breaking = [
    ...offers.removed.map((key) => `removed: ${key}`),
    ...offers.changed
      .filter((key) => !grown.includes(key))
      .map((key) => `changed: ${key} was ${before.offers[key]}, is ${after.offers[key]}`),
    ...demands.added.filter((key) => has(before, ownerOfDemand(key))).map((key) => `demanded: ${key}`),
    ...demands.changed.map((key) => `changed: ${key} was ${before.demands[key]}, is ${after.demands[key]}`),
  ];
  const added = [...offers.added, ...grown, ...demands.removed.map((key) => `no longer demanded: ${key}`)];
  return { breaking, added, level: breaking.length > 0 ? "major" : added.length > 0 ? "minor" : "none" };
};

type Parts = readonly [major: number, minor: number, patch: number];
const partsOf = (version: string): Parts => {
  const [, major, minor, patch] = /^(\d+)\.(\d+)\.(\d+)$/.exec(version) ?? [];
  if (patch === undefined) throw new Error(`${version} is not a version such as 1.2.3`);
  return [Number(major), Number(minor), Number(patch)];
};

/** Negative if `one` is the earlier version. */
export const compareVersions = (one: string, other: string): number => {
  const [[a, b, c], [x, y, z]] = [partsOf(one), partsOf(other)];
  return a - x || b - y || c - z;
};

/** The lowest version after `last` for such a change; for none, `last` itself. */
export const leastVersion = (last: string, level: Level): string => {
  const [major, minor] = partsOf(last);
  return level === "none" ? last : level === "minor" ? `${major}.${minor + 1}.0` : `${major + 1}.0.0`;
};
