/** The types of a field in a catalogue of log events, and of what is logged. */
export type FieldTypes = { readonly string: string; readonly number: number; readonly boolean: boolean };
export type FieldType = keyof FieldTypes;

/**
 * How soon a person has to act. `page`: at any hour, because nothing is sold, or the harm grows until then. `ticket`:
 * on a working day.
 */
export type Urgency = "page" | "ticket";

/** The description of a log event. A field whose type ends in `?` may be absent. */
export type LogEventSpec = {
  /** Ids, codes and counts. Never a body, a header, a key, or a person's number. */
  readonly fields: Readonly<Record<string, FieldType | `${FieldType}?`>>;
  readonly meaning: string;
} & (
  | { readonly level: "info" }
  | { readonly level: "warn" | "error"; readonly action: string }
  /** An error that raises the alarm of its event: a ticket, unless it says `page`. */
  | { readonly level: "alarm"; readonly urgency?: "page"; readonly action: string }
  /** An error by which nothing is sold: all of them notify by one alarm. `repeated`: only if it lasts. */
  | { readonly level: "alarm"; readonly stopsSales: true; readonly repeated?: true; readonly action: string }
);
export type LogCatalog = Readonly<Record<string, LogEventSpec>>;
