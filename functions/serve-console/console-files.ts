import type { PreparedDocument } from "../../shared/call/prepared-document.ts";

/** The console's files by their path below /console/, such as `index.html`; `gzip` is base64. */
export type BundledFiles = Readonly<Record<string, { readonly gzip: string; readonly etag: string }>>;

/**
 * infra/bundle/bundle-options.ts puts the files into the bundle. Where Node runs the sources, the caller that loads this function
 * defines them as a global of this name (`infra/bundle/console-files.ts` builds them).
 */
declare const CONSOLE_FILES: BundledFiles;

/** The built pages of the console. */
export const consoleFiles = (): ReadonlyMap<string, PreparedDocument> =>
  new Map(
    Object.entries(CONSOLE_FILES).map(([path, { gzip, etag }]) => [path, { gzip: Buffer.from(gzip, "base64"), etag }]),
  );
