import { type FunctionName, functionNames, specOf } from "../../infra/functions.ts";
import { bundleBudget, largerBundles } from "../costs/budgets.ts";
import { markdownTable, wrap } from "../markdown/markdown.ts";
import { bundleSize } from "./bundle-sizes.ts";

/** The tolerance of a size: code that all bundles share changes often, and zlib's output differs between processors. */
const TOLERANCE_BYTES = 5_000;
/** Every change of a page changes this bundle. */
const PAGES_TOLERANCE_BYTES = 50_000;
const KB = 1_000;

const inKilobytes = (name: FunctionName, bytes: number, stored: string | undefined): string =>
  stored !== undefined &&
  Math.abs(Number(stored) * KB - bytes) <= (name === "serve-console" ? PAGES_TOLERANCE_BYTES : TOLERANCE_BYTES)
    ? stored
    : String(Math.round(bytes / KB));

const rowOf = (name: FunctionName, current: string): readonly string[] => {
  const { memoryMb, timeoutS, egress } = specOf(name);
  const { bytes, gzipBytes } = bundleSize(name);
  const [, kilobytes, gzip] = new RegExp(`^\\| \`${name}\` .* (\\d+) \\| (\\d+) \\|$`, "m").exec(current) ?? [];
  return [
    `\`${name}\``,
    `${memoryMb}`,
    `${timeoutS}`,
    egress ? "yes" : "",
    inKilobytes(name, bytes, kilobytes),
    inKilobytes(name, gzipBytes, gzip),
  ];
};

const namesOf = (has: (spec: ReturnType<typeof specOf>) => true | undefined): string =>
  functionNames
    .filter((name) => has(specOf(name)))
    .map((name) => `\`${name}\``)
    .join(", ");

/** Memory, time-out and bundle size of each function. A stored size within the tolerance does not change. */
export const functionTable = (current: string): string => {
  const rows = functionNames.map((name) => rowOf(name, current));
  const table = markdownTable([
    ["function", "memory, MB", "time-out, s", "outbound calls", "bundle, KB", "in gzip, KB"],
    ...rows,
  ]);
  const { bytes, gzipBytes } = bundleBudget;
  const larger = Object.entries(largerBundles).map(([name, reason]) => `\`${name}\` (${reason})`);
  return `${table}

${wrap(`Sizes are accurate to ${TOLERANCE_BYTES / KB} KB, those of \`serve-console\` to ${PAGES_TOLERANCE_BYTES / KB} KB. A test limits them to ${bytes / KB} KB, and ${gzipBytes / KB} KB in
    gzip, except for ${larger.join(", ")}. The SDK, which most may load, is a file of its own. Not every stage has ${namesOf((spec) => spec.needsConsole)} (setting \`console\`), ${namesOf((spec) => spec.copiesAudit)} (\`auditCopy\`) and ${namesOf((spec) => spec.asksUpstream)} (a \`lookup\` or \`balance\` in \`upstreamProfile\`).`)}`;
};
