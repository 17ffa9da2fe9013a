import { SECRET_LENGTH_MIN } from "./secret-length.ts";
import { SECRET_CACHE_MS } from "./secrets.ts";
import { isoTime } from "./time.ts";

/** A version of the reference key, and the time in which new hashes are made under it. */
export type Version = { readonly key: string; readonly fromMs: number; readonly untilMs: number };
export type ReferenceKeyVersions = readonly [first: Version, ...later: Version[]];

/**
 * The versions in the secret: the first line is the first key, each other line the time from which another one is used and
 * this key. Undefined if it is absent or malformed.
 */
export const parseReferenceKey = (text = ""): ReferenceKeyVersions | undefined => {
  const [key = "", ...lines] = text.split("\n");
  const later = lines.map((line) => {
    const [time = "", laterKey = "", ...others] = line.split(" ");
    return { key: others.length === 0 ? laterKey : "", fromMs: Date.parse(time) };
  });
  const keys = [{ key, fromMs: Number.NEGATIVE_INFINITY }, ...later];
  const versions = keys.map((one, index) => ({ ...one, untilMs: keys[index + 1]?.fromMs ?? Number.POSITIVE_INFINITY }));
  // A time that cannot be read is before no other.
  const isWhole = versions.every(
    (one) => one.key.length >= SECRET_LENGTH_MIN && !one.key.includes(" ") && one.fromMs < one.untilMs,
  );
  const [first, ...others] = versions;
  return isWhole && first ? [first, ...others] : undefined;
};

/** When a new version is first used: every process knows it then, because none keeps the secret that long. */
const USED_AFTER_MS = 3 * SECRET_CACHE_MS;

/**
 * The secret with one version more; undefined if the last one is not in use yet, because what a new one is for has just
 * been done.
 */
export const withNewVersion = (
  text: string,
  versions: ReferenceKeyVersions,
  key: string,
  nowMs: number,
): { readonly text: string; readonly from: string } | undefined => {
  if (versionInUse(versions, nowMs) !== versions.at(-1)) return undefined;
  const from = isoTime(nowMs + USED_AFTER_MS);
  return { text: `${text}\n${from} ${key}`, from };
};

export const versionInUse = (versions: ReferenceKeyVersions, nowMs: number): Version =>
  versions.findLast(({ fromMs }) => fromMs <= nowMs) ?? versions[0];
