import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { type Browser, chromium } from "playwright-core";
import * as z from "#zod";
import { sleep } from "../../../shared/platform/time.ts";

const LOCAL = fileURLToPath(new URL("../../../.local", import.meta.url));
const LOCK_CHECK_MS = 100;

/** The folder of the npm package, which has the browser in compressed archives. */
const packageFolder = join(dirname(createRequire(import.meta.url).resolve("@sparticuz/chromium")), "..");
const { version } = z
  .object({ version: z.string() })
  .parse(JSON.parse(readFileSync(join(packageFolder, "package.json"), "utf8")));
const FOLDER = join(LOCAL, "chromium", version);

/**
 * Chromium uses the archive's fonts and no others: a page looks the same on every machine. The package's own fonts.conf
 * names folders of AWS Lambda.
 */
const FONTS_CONF = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir prefix="relative">fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
`;

/**
 * Starts the Chromium that npm installed. The arguments that its package recommends would switch web security off, so
 * they are not used.
 */
export const startChromium = async (): Promise<Browser> => {
  if (!existsSync(FOLDER)) await unpackOnce();
  return chromium.launch({
    executablePath: join(FOLDER, "chromium"),
    chromiumSandbox: false,
    env: {
      ...process.env,
      // The archive has the libraries that a machine without a desktop lacks. Other processes must not load them.
      LD_LIBRARY_PATH: join(FOLDER, "al2023", "lib"),
      FONTCONFIG_FILE: join(FOLDER, "fonts", "fonts.conf"),
      XDG_CACHE_HOME: join(FOLDER, "cache"),
    },
  });
};

/**
 * Test files that start at the same time unpack it once: the others wait. A copy of this tree has links to the same
 * folders, so the lock is named after the package, whose path has no link.
 */
const unpackOnce = async (): Promise<void> => {
  const unlock = await lock(`\0airtime-${packageFolder}`);
  try {
    if (existsSync(FOLDER)) return;
    mkdirSync(dirname(FOLDER), { recursive: true });
    const unfinished = mkdtempSync(join(LOCAL, "chromium-unfinished-"));
    try {
      await unpack(unfinished);
      writeFileSync(join(unfinished, "fonts", "fonts.conf"), FONTS_CONF);
      renameSync(unfinished, FOLDER);
    } finally {
      rmSync(unfinished, { recursive: true, force: true });
    }
  } finally {
    unlock();
  }
};

/** The package unpacks into the temporary directory of its process. */
const unpack = async (folder: string): Promise<void> => {
  const script = `
    const { inflate } = await import(${JSON.stringify(pathToFileURL(join(packageFolder, "build", "index.js")).href)});
    const archives = ["chromium.br", "fonts.tar.br", "al2023.tar.br"];
    await Promise.all(archives.map((name) => inflate(${JSON.stringify(join(packageFolder, "bin"))} + "/" + name)));
  `;
  await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", script], {
    env: { ...process.env, TMPDIR: folder },
  });
};

/** A lock between processes: an abstract socket, which Linux closes when its process ends. Returns the unlock. */
const lock = async (name: string): Promise<() => void> => {
  for (;;) {
    const server = createServer();
    const isOurs = await new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(false));
      server.listen(name, () => resolve(true));
    });
    if (isOurs) return () => server.close();
    await sleep(LOCK_CHECK_MS);
  }
};
