import { type FunctionName, type FunctionSpec, functionNames, functionSpecs } from "../../infra/functions.ts";
import { bundleBudget } from "../costs/budgets.ts";
import { bundleSize } from "./bundle-sizes.ts";
import { markdownTable, wrap } from "./markdown.ts";

/** The tolerance of a size: code that all bundles share changes often, and zlib's output differs between processors. */
const TOLERANCE_BYTES = 5_000;
const KB = 1_000;

const inKilobytes = (bytes: number, stored: string | undefined): string =>
  stored !== undefined && Math.abs(Number(stored) * KB - bytes) <= TOLERANCE_BYTES
    ? stored
    : String(Math.round(bytes / KB));

const rowOf = async (name: FunctionName, current: string): Promise<readonly string[]> => {
  const { memoryMb, timeoutS, egress }: FunctionSpec = functionSpecs[name];
  const { bytes, gzipBytes } = await bundleSize(name);
  const [, kilobytes, gzip] = new RegExp(`^\\| \`${name}\` .* (\\d+) \\| (\\d+) \\|$`, "m").exec(current) ?? [];
  return [
    `\`${name}\``,
    `${memoryMb}`,
    `${timeoutS}`,
    egress ? "yes" : "",
    inKilobytes(bytes, kilobytes),
    inKilobytes(gzipBytes, gzip),
  ];
};

/** Memory, time-out and bundle size of each function. A stored size within the tolerance does not change. */
export const functionTable = async (current: string): Promise<string> => {
  const rows = await Promise.all(functionNames.map((name) => rowOf(name, current)));
  const table = markdownTable([
    ["function", "memory, MB", "time-out, s", "outbound calls", "bundle, KB", "in gzip, KB"],
    ...rows,
  ]);
  const { bytes, gzipBytes } = bundleBudget;
  return `${table}

${wrap(`Sizes are accurate to ${TOLERANCE_BYTES / KB} KB. A test limits them to ${bytes / KB} KB, and ${gzipBytes / KB} KB in
    gzip, except for \`serve-docs\`, which contains the documentation page.`)}`;
};
