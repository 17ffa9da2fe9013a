import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { OperatedService } from "./admin.ts";

/** The values of `<names>` in commands. */
export type Names = Readonly<Record<string, string>>;

type Block = { readonly language: string; readonly text: string };

/** The sections of a document by its headings, with their code blocks, also those within lists. */
export const documentSections = (path: string) =>
  readFileSync(path, "utf8")
    .split(/^#{1,2} /m)
    .slice(1)
    .map((text) => ({
      heading: text.split("\n", 1)[0] ?? "",
      blocks: [...text.matchAll(/^( *)```(\w+)\n(.*?)^\1```/gms)].map(
        ([, indent = "", language = "", content = ""]): Block => ({
          language,
          text: content.replaceAll(new RegExp(`^${indent}`, "gm"), "").trimEnd(),
        }),
      ),
    }));

/** The words of a command as the shell reads them; a file of the folder gets its path. */
const wordsOf = (typed: string, folder: string): readonly string[] =>
  execFileSync("/bin/sh", ["-c", `printf '%s\\0' ${typed}`], { encoding: "utf8" })
    .split("\0")
    .slice(0, -1)
    .map((word) => (/\.\w+$/.test(word) && existsSync(join(folder, word)) ? join(folder, word) : word));

/**
 * Runs one `npm run admin` of a document; the exit code must be 0, or the one in the line's comment. Files are in the
 * service's folder. Resolves with what is printed; undefined if that is written into a file. `flags` are added to a
 * command that prints.
 */
export const runDocumentCommand = async (
  service: OperatedService,
  line: string,
  names: Names,
  flags: readonly string[] = [],
): Promise<string | undefined> => {
  const [command = "", expected = "0"] = line.split(/ +# exit code /);
  const filled = command.replaceAll(/<(\w+)>/g, (_placeholder, name: string) => {
    const value = names[name];
    if (value === undefined) throw new Error(`${line}: <${name}> has no value`);
    return value;
  });
  const [, silent, typed = "", direction, file = ""] =
    /^npm run (-s )?admin -- (.*?)(?: ([<>]) (\S+))?$/.exec(filled) ?? [];
  // Without -s, npm writes its own lines into the file.
  expect({ line, silent: silent !== undefined }).toEqual({ line, silent: direction === ">" });
  const isFile = direction === ">";
  const stdin = direction === "<" ? readFileSync(join(service.folder, file), "utf8") : undefined;
  const { code, stdout, stderr } = await service.admin(
    isFile ? wordsOf(typed, service.folder) : [...wordsOf(typed, service.folder), ...flags],
    stdin,
  );
  expect({ line, code, stderr: code === Number(expected) ? "" : stderr }).toEqual({
    line,
    code: Number(expected),
    stderr: "",
  });
  if (!isFile) return stdout;
  writeFileSync(join(service.folder, file), stdout);
  return undefined;
};
