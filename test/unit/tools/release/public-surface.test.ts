import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { releasedVersions } from "../../../../tools/release/changelog.ts";
import { publicSurface } from "../../../../tools/release/public-surface.ts";
import {
  comparedVersions,
  otherVersions,
  recordedRelease,
  versionOf,
  versionProblem,
} from "../../../../tools/release/releases.ts";

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

test("every package of a release has the same version", () => {
  expect(otherVersions()).toEqual([]);
});
