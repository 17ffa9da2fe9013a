import { logEvents } from "../../shared/platform/log-events.ts";
import { markdownTable } from "./markdown.ts";

/** Every event of the functions' log; an optional field has a `?`. */
export const logEventTable = (): string =>
  markdownTable([
    ["event", "level", "fields", "meaning", "what to do"],
    ...Object.entries(logEvents).map(([event, { level, fields, meaning, action }]) => [
      `\`${event}\``,
      level,
      Object.entries<string>(fields)
        .map(([name, type]) => (type.endsWith("?") ? `${name}?` : name))
        .join(", "),
      meaning,
      action,
    ]),
  ]);
