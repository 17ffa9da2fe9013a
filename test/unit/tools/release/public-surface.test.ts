import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { releasedVersions, releaseNotes } from "../../../../tools/release/changelog.ts";
import { publicSurface } from "../../../../tools/release/public-surface.ts";
import {
  comparedVersions,
  otherVersions,
  recordedRelease,
  versionOf,
  versionProblem,
} from "../../../../tools/release/releases.ts";
import type { Surface } from "../../../../tools/release/surface-schema.ts";

/** Goal: a release breaks nobody unless its version says so. */
const surface = await publicSurface();

test("the public surface has the interface, webhooks, commands, the client's types and a stage's settings", () => {
  const offers = Object.keys(surface.offers);
  for (const offer of [
    "POST /vtu/data/purchase 422 limit_reached",
    "POST /vtu/data/purchase 200 body.status = true",
    "POST /vtu/data/purchase 200 body.data.transaction.reference is always there",
    'webhook transaction.updated.data.status = "failed"',
    "admin wallet fund <account>",
    "admin wallet fund --json.balance",
    "client AirtimeClient.wallet.get",
    "client Order.estimatedDeliveryS",
    'stage.egress.kind = "nat-gateway"',
    "stage.airtimeMax default",
  ]) {
    expect(offers).toContain(offer);
  }
  expect(Object.keys(surface.demands)).toEqual(
    expect.arrayContaining([
      "POST /vtu/data/purchase body :: phone_number is required",
      "admin wallet fund :: <account> is required",
      "client DataPurchaseRequest :: planId is required",
    ]),
  );
});

test("each output of --json is of a command that exists", () => {
  const commands = Object.keys(surface.offers).flatMap((offer) => /^(admin .+) --json$/.exec(offer)?.[1] ?? []);
  expect(commands).toContain("admin wallet fund");
  expect(commands.filter((command) => surface.offers[command] === undefined)).toEqual([]);
});

// With nothing before the first release.
test("the version of this tree says what has changed since the last release", () => {
  const version = versionOf("package.json");
  const problems = comparedVersions(version, releasedVersions(readFileSync("CHANGELOG.md", "utf8"))).map((other) =>
    versionProblem(version, surface, recordedRelease(other)),
  );
  expect(problems.filter((problem) => problem !== undefined)).toEqual([]);
});

const wordsOf = (text: string): readonly string[] => text.match(/[a-z][\w-]+/gi) ?? [];
/** The words of these keys, each with the kind of thing that it is of: `GET wallet`, `admin wallet`. */
const namesOf = (keys: readonly string[]): ReadonlySet<string> =>
  new Set(
    keys.flatMap((key) => {
      const [kind, ...words] = wordsOf(key);
      return words.map((word) => `${kind} ${word}`);
    }),
  );

// With nothing before the first release. What is in something new need not be named, such as the fields of a webhook.
test.each([
  ["CHANGELOG.md", (key: string) => !key.startsWith("client ")],
  ["client/CHANGELOG.md", (key: string) => key.startsWith("client ")],
])("%s names everything that is new in the public surface, and everything that is gone", (file, isOf) => {
  const version = versionOf("package.json");
  const notes = new Set(wordsOf(releaseNotes(readFileSync(file, "utf8"), version)));
  const keysOf = ({ offers, demands }: Surface) => [...Object.keys(offers), ...Object.keys(demands)].filter(isOf);
  const missingIn = (before: Surface, after: Surface): readonly string[] => {
    const known = namesOf(keysOf(before));
    const newNamesOf = (key: string) => [...namesOf([key])].filter((name) => !known.has(name));
    const newKeys = keysOf(after).filter((key) => newNamesOf(key).length > 0);
    const isWithin = (key: string, other: string) => key.startsWith(other) && /^[ :.[]/.test(key.slice(other.length));
    return newKeys
      .filter((key) => !newKeys.some((other) => isWithin(key, other)))
      .filter((key) => !newNamesOf(key).some((name) => notes.has(name.slice(name.indexOf(" ") + 1))));
  };
  const missing = comparedVersions(version, releasedVersions(readFileSync("CHANGELOG.md", "utf8"))).flatMap((other) => {
    const { surface: last } = recordedRelease(other);
    return [...missingIn(last, surface), ...missingIn(surface, last)];
  });
  expect(missing).toEqual([]);
});

test("every package of a release has the same version", () => {
  expect(otherVersions()).toEqual([]);
});
