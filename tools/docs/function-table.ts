import { type FunctionName, type FunctionSpec, functionNames, functionSpecs } from "../../infra/functions.ts";
import { bundleBudget } from "../costs/budgets.ts";
import { bundleSize } from "./bundle-sizes.ts";
import { markdownTable } from "./markdown.ts";

/** So far off a size may be: code that all bundles share changes often, and zlib's bytes are not the same on every processor. */
const OFF_BYTES_MAX = 5_000;
const KB = 1_000;

const inKilobytes = (bytes: number, written: string | undefined): string =>
  written !== undefined && Math.abs(Number(written) * KB - bytes) <= OFF_BYTES_MAX
    ? written
    : String(Math.round(bytes / KB));

const rowOf = async (name: FunctionName, before: string): Promise<readonly string[]> => {
  const { memoryMb, timeoutS, egress }: FunctionSpec = functionSpecs[name];
  const { bytes, gzipBytes } = await bundleSize(name);
  const [, kilobytes, gzip] = new RegExp(`^\\| \`${name}\` .* (\\d+) \\| (\\d+) \\|$`, "m").exec(before) ?? [];
  return [
    `\`${name}\``,
    `${memoryMb}`,
    `${timeoutS}`,
    egress ? "yes" : "",
    inKilobytes(bytes, kilobytes),
    inKilobytes(gzipBytes, gzip),
  ];
};

/** What each function gets on AWS, and how large it is. A size that is still right enough stays as it is written. */
export const functionTable = async (before: string): Promise<string> => {
  const rows = await Promise.all(functionNames.map((name) => rowOf(name, before)));
  const table = markdownTable([
    ["function", "memory, MB", "time-out, s", "calls out", "bundle, KB", "in gzip, KB"],
    ...rows,
  ]);
  const { bytes, gzipBytes } = bundleBudget;
  return `${table}

Sizes are right to ${OFF_BYTES_MAX / KB} KB. A test keeps them at or below ${bytes / KB} KB, and ${gzipBytes / KB} KB in gzip, except for \`serve-docs\`, which carries the page of documentation.`;
};
