import { expect, test } from "vitest";
import { SettingsError } from "../../../../infra/settings-error.ts";
import { settingsOf } from "../../../../infra/stage-settings.ts";
import { stages } from "../../../../stages.ts";
import { writeTemplates } from "../../../../tools/templates/templates.ts";

test("a folder that cannot be made is refused before anything is built", () => {
  expect(() => writeTemplates("sandbox", settingsOf("sandbox", stages), "/dev/null/templates")).toThrow(
    new SettingsError("The folder cannot be made: ENOTDIR: not a directory, mkdir '/dev/null/templates/assets'."),
  );
});
