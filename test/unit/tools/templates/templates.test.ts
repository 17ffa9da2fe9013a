import { expect, test } from "vitest";
import { settingsOf } from "../../../../infra/stage-settings.ts";
import { stages } from "../../../../stages.ts";
import { writeTemplates } from "../../../../tools/templates/templates.ts";

test.each(["/dev/null/templates", "/proc/templates"])(
  "the folder %s, which cannot be made, is refused before anything is built",
  (folder) => {
    expect(() => writeTemplates("sandbox", settingsOf("sandbox", stages), folder)).toThrow(
      new RegExp(`^--output ${folder} cannot be made: E.*\\. Choose a folder below one that you may write to\\.$`),
    );
  },
);
