import type { LogEventSpec } from "../../shared/platform/log-catalog.ts";
import { logEvents } from "../../shared/platform/log-events.ts";
import { markdownTable } from "../markdown/markdown.ts";

/** Every event of the functions' log; an optional field has a `?`. */
export const logEventTable = (): string =>
  markdownTable([
    ["event", "level", "fields", "meaning", "what to do"],
    ...Object.entries<LogEventSpec>(logEvents).map(([event, spec]) => [
      `\`${event}\``,
      levelOf(spec),
      Object.entries<string>(spec.fields)
        .map(([name, type]) => (type.endsWith("?") ? `${name}?` : name))
        .join(", "),
      spec.meaning,
      spec.level === "info" ? "None." : spec.action,
    ]),
  ]);

/** The level of an event; of an alarm with its urgency. */
const levelOf = (spec: LogEventSpec): string =>
  spec.level === "alarm" ? `alarm, ${"stopsSales" in spec ? "page" : (spec.urgency ?? "ticket")}` : spec.level;
