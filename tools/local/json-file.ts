import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type * as z from "#zod";
import { SettingsError } from "../../infra/settings-error.ts";
import { makeFolder } from "./make-folder.ts";

/** The file's content; undefined if there is no file. */
export const readJsonFile = <Schema extends z.ZodMiniType>(
  path: string,
  schema: Schema,
): z.output<Schema> | undefined => {
  if (!existsSync(path)) return undefined;
  try {
    return schema.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch (error) {
    throw new SettingsError(`${path} is damaged: npm start -- --fresh starts with empty data.`, { cause: error });
  }
};

/** Replaces the file atomically. Only the user can read it, because it may hold keys. */
export const writeJsonFile = (path: string, value: unknown): void => {
  makeFolder(dirname(path));
  const draft = `${path}.${process.pid}.tmp`;
  writeFileSync(draft, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, path);
};
