import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type * as z from "#zod";
import { type MakeParts, type Parts, partOf } from "../../shared/upstream-statement/match-statement.ts";

/** A million rows and their orders are 4,000 of each in a part. */
const PARTS = 256;
/** What is collected before it is written. */
const CHARACTERS_MAX = 16_384;

/** Parts in files below a new folder, which `remove` deletes. They hold references and hashes, and no number. */
export const partsOnDisk = (): { readonly makeParts: MakeParts; readonly remove: () => void } => {
  const folder = mkdtempSync(join(tmpdir(), "statement-"));
  return {
    makeParts: (name, schema) => diskParts(join(folder, name), schema),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
};

const diskParts = <Item>(path: string, schema: z.ZodMiniType<Item>): Parts<Item> => {
  const collected = Array.from({ length: PARTS }, () => "");
  const fileOf = (part: number): string => `${path}-${part}`;
  const write = (part: number): void => {
    appendFileSync(fileOf(part), collected[part] ?? "");
    collected[part] = "";
  };
  return {
    add: (key, item) => {
      const part = partOf(key, PARTS);
      const lines = `${collected[part]}${JSON.stringify(item)}\n`;
      collected[part] = lines;
      if (lines.length >= CHARACTERS_MAX) write(part);
    },
    *parts() {
      for (let part = 0; part < PARTS; part += 1) {
        write(part);
        if (!existsSync(fileOf(part))) continue;
        const lines = readFileSync(fileOf(part), "utf8").trimEnd();
        rmSync(fileOf(part));
        yield lines === "" ? [] : lines.split("\n").map((line) => schema.parse(JSON.parse(line)));
      }
    },
  };
};
