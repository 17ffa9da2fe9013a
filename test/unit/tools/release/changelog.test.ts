import { expect, test } from "vitest";
import {
  isReleased,
  releasedVersions,
  releaseNotes,
  unreleasedText,
  withRelease,
} from "../../../../tools/release/changelog.ts";

const changelog = `# Changelog

## Unreleased

### For callers

- A field is new.

## 1.0.0 - 2026-11-27

- The first release.

## 0.1.0 - 2026-11-22

- A trial.
`;

test("released versions are those with a day, from 1.0.0 on", () => {
  expect(releasedVersions(changelog)).toEqual(["1.0.0"]);
  expect([isReleased(changelog, "1.0.0"), isReleased(changelog, "1.1.0")]).toEqual([true, false]);
});

test("a release's notes are below its heading, and those of the next one below Unreleased", () => {
  expect(releaseNotes(changelog, "1.0.0")).toBe("- The first release.");
  expect(releaseNotes(changelog, "1.1.0")).toBe("### For callers\n\n- A field is new.");
});

test("a release takes what was unreleased, once", () => {
  const released = withRelease(changelog, "1.1.0", "2026-12-01");
  expect(releaseNotes(released, "1.1.0")).toBe("### For callers\n\n- A field is new.");
  expect(unreleasedText(released)).toBe("");
  expect(releasedVersions(released)).toEqual(["1.1.0", "1.0.0"]);
  expect(withRelease(released, "1.1.0", "2026-12-01")).toBe(released);
});

test("a release that is prepared again takes what was unreleased since, below its own headings, and the new day", () => {
  const introduced = changelog.replace("### For callers", "Begins here.\n\n### For callers");
  const released = withRelease(introduced, "1.1.0", "2026-12-01");
  const since = "\n### For callers\n\n- Another one.\n\n### For deployers\n\n- A setting.\n";
  const again = withRelease(released.replace("## Unreleased\n", `## Unreleased\n${since}`), "1.1.0", "2026-12-02");
  expect(unreleasedText(again)).toBe("");
  expect(releaseNotes(again, "1.1.0")).toBe(
    "Begins here.\n\n### For callers\n\n- Another one.\n- A field is new.\n\n### For deployers\n\n- A setting.",
  );
  expect(again).toContain("## 1.1.0 - 2026-12-02\n");
  expect(releasedVersions(again)).toEqual(["1.1.0", "1.0.0"]);
  expect(releaseNotes(again, "0.1.0")).toBe("- A trial.");
});
