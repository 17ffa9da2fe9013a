import type { Command } from "commander";
import * as z from "#zod";
import type { VerifiedFile } from "../../shared/platform/chained-lines.ts";
import { OperatorError } from "../../shared/platform/operator-error.ts";
import { addCommand, type Report } from "./command.ts";
import type { AdminContext } from "./context.ts";
import { readStdin } from "./stdin.ts";
import { type Cell, fields } from "./views/print.ts";

type Pages = AsyncIterable<{ readonly lines: readonly string[] }>;

/** The lines of an export: as they come, or all as JSON. */
export const exportReport = async (pages: Pages, json: boolean): Promise<Report> =>
  json
    ? { json: { lines: (await Array.fromAsync(pages)).flatMap(({ lines }) => lines) }, text: "" }
    : { json: undefined, text: exportedLines(pages) };

/** The last line gets its line end as any command's output does. */
async function* exportedLines(pages: Pages): AsyncGenerator<string> {
  let separator = "";
  for await (const { lines } of pages) {
    if (lines.length === 0) continue;
    yield `${separator}${lines.join("\n")}`;
    separator = "\n";
  }
}

type WholeFile<Header> = Extract<VerifiedFile<Header>, { readonly isWhole: true }>;

/** The audit entry of an export, with what `--json` prints of it. */
type Recorded = { readonly by: string; readonly at: string; readonly json: object };

/** How a kind of export is verified. */
type Verification<Header> = {
  readonly example: string;
  readonly verify: (text: string) => VerifiedFile<Header>;
  readonly shownOf: (file: WholeFile<Header>) => Readonly<Record<string, Cell>>;
  /** Finds the audit entry; throws if the audit log cannot be read. */
  readonly recordedBy: (context: AdminContext, file: WholeFile<Header>) => Promise<Recorded | undefined>;
};

export const addVerifyCommand = <Header>(group: Command, verification: Verification<Header>): void => {
  const { example, recordedBy } = verification;
  addCommand(group, {
    usage: "verify",
    readOnly: true,
    summary: "Read an export from standard input; exit code 1 unless it is byte for byte what the service exported",
    example,
    input: z.object({}),
    run: (context) => verifiedReport(verification, (file) => recordedBy(context, file)),
    runWithoutService: (_, reason) => verifiedReport(verification, () => Promise.reject(new OperatorError(reason))),
  });
};

/** A person who changes a line can compute all hashes anew: only the audit entry shows that this did not happen. */
const verifiedReport = async <Header>(
  { verify, shownOf }: Verification<Header>,
  recorded: (file: WholeFile<Header>) => Promise<Recorded | undefined>,
): Promise<Report> => {
  const file = verify(await readStdin("The export"));
  if (!file.isWhole) {
    const { line, problem } = file;
    return { ok: false, json: { ok: false, line, problem }, text: `Line ${line} is wrong: ${problem}.` };
  }
  const shown = shownOf(file);
  const report = (compared: boolean, found: Recorded | undefined, text: string): Report => ({
    ok: found !== undefined,
    json: { ok: found !== undefined, ...shown, compared, recorded: found?.json ?? null },
    text: `${fields(shown)}\n\n${text}`,
  });
  try {
    const found = await recorded(file);
    const text = found
      ? `This is the file that ${found.by} exported: the audit entry of ${found.at} has its count and hash.`
      : "The lines are a whole chain, but the audit log has no export with this count and hash: the service did not export this file.";
    return report(true, found, text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const text = `The lines are a whole chain, which proves nothing: they were not compared with the audit log (${reason}).`;
    return report(false, undefined, text);
  }
};
