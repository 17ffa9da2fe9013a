/**
 * What functions and their packages import of them: esbuild and a test name what is missing. Not what this Node exports,
 * because equal sources make equal bundles (`npm run trace`).
 */
const imported = {
  console: "Console",
  crypto: `createCipheriv createDecipheriv createHash createHmac createSecretKey getRandomValues hash randomBytes randomInt
    randomUUID timingSafeEqual`,
  dns: "promises",
  events: "once",
  fs: "ReadStream createReadStream fstatSync lstatSync readFileSync",
  "fs/promises": "readFile",
  https: "Agent",
  net: "connect isIPv4 isIPv6",
  os: "homedir platform release",
  path: "dirname join sep",
  process: "env versions",
  stream: "PassThrough Readable Writable",
  "stream/consumers": "text",
  "stream/promises": "pipeline",
  timers: "setTimeout",
  "timers/promises": "setImmediate",
  tls: "connect createSecureContext",
  url: "fileURLToPath",
  util: "isDeepStrictEqual promisify",
  zlib: "crc32 gunzip gunzipSync gzip gzipSync",
} as const;

/** Its used exports only: esbuild leaves out the others. */
const moduleOf = (name: string, exported: string): string =>
  [
    `const builtin = /* @__PURE__ */ process.getBuiltinModule("node:${name}");`,
    "export default builtin;",
    ...exported.split(/\s+/).map((key) => `export const ${key} = /* @__PURE__ */ (() => builtin.${key})();`),
  ].join("\n");

const dataUrl = (code: string): string => `data:text/javascript,${encodeURIComponent(code)}`;

/** What bundles have in place of Node's built-in modules: an import would read every export of one (decision 0025). */
export const builtins: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    Object.entries(imported).map(([name, exported]) => [`node:${name}`, dataUrl(moduleOf(name, exported))]),
  ),
  // The SDK loads it by import(), for which esbuild would keep every export of an ES module.
  "node:http": dataUrl('module.exports = process.getBuiltinModule("node:http");'),
};
