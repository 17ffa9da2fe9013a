/** Those that functions and their packages import. A test names one that is missing. */
const IMPORTED = [
  ...["console", "crypto", "dns", "events", "fs", "fs/promises", "https", "net", "os", "path", "process", "stream"],
  ...["stream/consumers", "stream/promises", "timers", "timers/promises", "tls", "url", "util", "zlib"],
] as const;

/** Its used exports only: esbuild leaves out the others. */
const moduleOf = (name: string): string => {
  const exported = Object.keys(process.getBuiltinModule(`node:${name}`) ?? {}).filter((key) => /^[a-z]\w*$/i.test(key));
  return [
    `const builtin = /* @__PURE__ */ process.getBuiltinModule("node:${name}");`,
    "export default builtin;",
    ...exported.map((key) => `export const ${key} = /* @__PURE__ */ (() => builtin.${key})();`),
  ].join("\n");
};

const dataUrl = (code: string): string => `data:text/javascript,${encodeURIComponent(code)}`;

/** What bundles have in place of Node's built-in modules: an import would read every export of one (decision 0025). */
export const builtins: Readonly<Record<string, string>> = {
  ...Object.fromEntries(IMPORTED.map((name) => [`node:${name}`, dataUrl(moduleOf(name))])),
  // The SDK loads it by import(), for which esbuild would keep every export of an ES module.
  "node:http": dataUrl('module.exports = process.getBuiltinModule("node:http");'),
};
