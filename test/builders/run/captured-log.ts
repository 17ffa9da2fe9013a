import { onTestFinished, vi } from "vitest";
import * as z from "#zod";

const logLine = z.record(z.string(), z.unknown());

export type CapturedLog = {
  /** What was logged since, as it was written. */
  readonly text: () => string;
  /** The lines that were logged since: all, or those of one event. */
  readonly lines: (event?: string) => readonly z.infer<typeof logLine>[];
};

/** Captures what the rest of the test logs, and does not print it. */
export const captureLog = (): CapturedLog => {
  const written = vi.spyOn(console, "log").mockImplementation(() => undefined);
  onTestFinished(() => written.mockRestore());
  // A test may capture twice, and gets the same spy.
  const begun = written.mock.calls.length;
  const texts = () => written.mock.calls.slice(begun).map(([line]) => String(line));
  return {
    text: () => texts().join("\n"),
    lines: (event) =>
      texts()
        .map((line) => logLine.parse(JSON.parse(line)))
        .filter((line) => event === undefined || line.event === event),
  };
};
