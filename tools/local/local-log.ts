import { createLog } from "../../shared/platform/log.ts";
import type { LogCatalog } from "../../shared/platform/log-catalog.ts";

const thrown = { error: "string", at: "string?" } as const;

/** The events that only the local runner logs, which AWS reports in its own metrics. */
const localLogEvents = {
  "invocation.failed": {
    level: "error",
    fields: { function: "string", ...thrown },
    meaning: "A function threw or ran out of time.",
    action: "Read the lines before it.",
  },
  "queue.unreachable": {
    level: "error",
    fields: { queue: "string", ...thrown },
    meaning: "The SQS emulator did not answer; the poll is retried.",
    action: "None, unless it repeats.",
  },
  "stream.given_up": {
    level: "error",
    fields: { function: "string", sequence_number: "string" },
    meaning: "A change of the ledger failed for as long as the stream keeps it, and is skipped.",
    action: "admin announce sends the webhooks of that time again.",
  },
  "stream.unreadable": {
    level: "error",
    fields: { table: "string", ...thrown },
    meaning: "A table's stream could not be read; it is read again.",
    action: "None, unless it repeats.",
  },
  "promise.unhandled": {
    level: "error",
    fields: thrown,
    meaning: "A promise was rejected and not awaited.",
    action: "It is a fault of the code.",
  },
} as const satisfies LogCatalog;

export const localLog = createLog<typeof localLogEvents>();
