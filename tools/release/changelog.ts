const UNRELEASED = "## Unreleased";

/** A release's heading is its version and day: `## 1.2.3 - 2026-11-26`. */
const heading = (version: string): RegExp =>
  new RegExp(`^## ${version.replaceAll(".", "\\.")} - \\d{4}-\\d\\d-\\d\\d$`, "m");

/** The versions that have been released, newest first, from 1.0.0 on: earlier ones promised nothing. */
export const releasedVersions = (changelog: string): readonly string[] =>
  [...changelog.matchAll(/^## ([1-9]\d*\.\d+\.\d+) - \d{4}-\d\d-\d\d$/gm)].map(([, version = ""]) => version);

export const isReleased = (changelog: string, version: string): boolean => heading(version).test(changelog);

/** What the changelog says below a heading, up to the next one. */
const textBelow = (changelog: string, found: RegExp): string => {
  const [, after = ""] = changelog.split(found);
  return (after.split(/^## /m)[0] ?? "").trim();
};

export const unreleasedText = (changelog: string): string => textBelow(changelog, new RegExp(`^${UNRELEASED}$`, "m"));

/** What a release changed; what the next one will, if the version is not released. */
export const releaseNotes = (changelog: string, version: string): string =>
  isReleased(changelog, version) ? textBelow(changelog, heading(version)) : unreleasedText(changelog);

/** The changelog with what was unreleased below the version's heading, which has this day. */
export const withRelease = (changelog: string, version: string, day: string): string => {
  const notes = joinGroups(unreleasedText(changelog), textBelow(changelog, heading(version)));
  const [before = "", after = ""] = changelog.split(new RegExp(`^${UNRELEASED}$`, "m"));
  const earlier = after.split(/^(?=## )/m).filter((section, position) => position > 0 && !isReleased(section, version));
  return [`${before}${UNRELEASED}`, `## ${version} - ${day}`, notes, ...earlier.map((section) => section.trim())]
    .filter((part) => part !== "")
    .join("\n\n")
    .concat("\n");
};

/** Texts as one, which has each of their headings once, after what is above all headings. */
const joinGroups = (...texts: readonly string[]): string => {
  const lines = new Map([["", ""]]);
  for (const group of texts.flatMap((text) => text.split(/^(?=### )/m))) {
    const [, found = "", below = ""] = /^(### [^\n]*\n)?(.*)$/s.exec(group) ?? [];
    lines.set(found.trim(), `${lines.get(found.trim()) ?? ""}${below.trim()}\n`);
  }
  return [...lines]
    .map(([found, below]) => `${found}\n\n${below.trim()}`.trim())
    .join("\n\n")
    .trim();
};
