import { globSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";

const decoded = (text: string): string => decodeURIComponent(text.replaceAll("&amp;", "&"));

/**
 * The links and pictures of a built site that lead to no file, or to no element of a page. `base` is the path below
 * which the site is served; files that are left out on purpose break no link.
 */
export const brokenLinks = (
  folder: string,
  isLeftOut: (path: string) => boolean = () => false,
  base = "/",
): readonly string[] => {
  const files = new Set(globSync("**/*", { cwd: folder }));
  const pages = new Map(
    [...files]
      .filter((file) => file.endsWith(".html"))
      .map((file) => [file, readFileSync(join(folder, file), "utf8")] as const),
  );
  const ids = new Map(
    [...pages].map(([file, html]) => [file, new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))]),
  );
  const isBroken = (file: string, link: string): boolean => {
    const [path = "", anchor = ""] = decoded(link).split("#");
    if (path.startsWith("/") && !path.startsWith(base)) return true;
    const relative = path.startsWith("/") ? path.slice(base.length) : posix.join(posix.dirname(file), path);
    const target = path === "" ? file : relative.replace(/(^|\/)$/, "$1index.html");
    if (!files.has(target)) return !isLeftOut(target);
    return anchor !== "" && ids.get(target)?.has(anchor) !== true;
  };
  return [...pages].flatMap(([file, html]) =>
    [...html.matchAll(/ (?:href|src)="(?!https?:|data:|mailto:)([^"]*)"/g)]
      .map(([, link = ""]) => link)
      .filter((link) => isBroken(file, link))
      .map((link) => `${file}: ${link}`),
  );
};
