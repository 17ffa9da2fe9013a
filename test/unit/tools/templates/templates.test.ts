import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { unzipSync } from "fflate";
import { expect, test } from "vitest";
import { settingsOf } from "../../../../infra/stage-settings.ts";
import { stages } from "../../../../stages.ts";
import { archiveOf, writeTemplates } from "../../../../tools/templates/templates.ts";

test.each(["/dev/null/templates", "/proc/templates"])(
  "the folder %s, which cannot be made, is refused before anything is built",
  (folder) => {
    expect(() => writeTemplates("sandbox", settingsOf("sandbox", stages), folder)).toThrow(
      new RegExp(`^--output ${folder} cannot be made: E.*\\. Choose a folder below one that you may write to\\.$`),
    );
  },
);

test("an archive has the files of a folder at a fixed time, which everybody may read: Lambda runs them as another user", () => {
  const folder = mkdtempSync(join(tmpdir(), "archived-"));
  const code = "export const handler = 1;\n".repeat(99);
  mkdirSync(join(folder, "public"));
  writeFileSync(join(folder, "index.mjs"), code);
  writeFileSync(join(folder, "public", "empty"), "");
  const archive = Buffer.from(archiveOf(folder));
  const files = Object.entries(unzipSync(archive)).map(([name, content]) => [name, Buffer.from(content).toString()]);
  expect(Object.fromEntries(files)).toEqual({ "index.mjs": code, "public/empty": "" });
  // The entries of the directory. Source: PKWARE, APPNOTE.TXT, 4.3.12.
  const entries: unknown[] = [];
  for (let at = archive.indexOf("PK\x01\x02"); at !== -1; at = archive.indexOf("PK\x01\x02", at + 1)) {
    const [madeOn, mode] = [archive[at + 5], archive.readUInt16LE(at + 40)];
    entries.push({ madeOn, mode, time: archive.readUInt16LE(at + 12), date: archive.readUInt16LE(at + 14) });
  }
  const unix = { madeOn: 3, mode: 0o100644, time: 0, date: 0x0021 };
  expect(entries).toEqual([unix, unix]);
});
