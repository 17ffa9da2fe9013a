import * as z from "#zod";
import type { FinalStatus } from "../contract/final-status.ts";
import { reportedFields, reportedReference, type upstreamEvent } from "../contract/upstream-event.ts";
import { maskedDigits } from "../contract/values/mask-phones.ts";
import { type Kobo, koboFromSentNaira } from "../contract/values/money.ts";
import { finalStatusOf, translated, type UpstreamProfile } from "../upstream/profile.ts";

/** An event of the upstream, as far as it could be read. */
export type ParsedEvent =
  /** Another kind of event, or a transaction that is still open. */
  | { readonly kind: "ignored" }
  | {
      readonly kind: "readable";
      readonly upstreamReference: string;
      readonly status: FinalStatus;
      /** Absent if none was sent. */
      readonly amountKobo?: Kobo | "unreadable";
      readonly type?: string;
      readonly phoneNumber?: string;
    }
  /** For the operator. `problem` describes what could not be read: bounded, and without personal data. */
  | { readonly kind: "unreadable"; readonly upstreamReference?: string; readonly problem: string };

/** What the upstream's events look like, and what its words mean. */
type EventProfile = Pick<UpstreamProfile, "events" | "statuses">;

const eventData = z.record(z.string(), z.unknown());

/**
 * Reads an event only where its meaning is certain. An event about a transaction that cannot be read is `unreadable`,
 * never ignored: it may report that a delivered order was reversed.
 */
export const parseEvent = (
  { events, statuses }: EventProfile,
  { event, data }: z.output<typeof upstreamEvent>,
): ParsedEvent => {
  const eventName = wordOf(event);
  if (eventName !== undefined && !eventName.startsWith(subjectOf(events.name))) return { kind: "ignored" };
  const isKnown = eventName === events.name;
  const eventProblem = isKnown ? [] : [`event ${printable(event)}`];
  const fields = eventData.safeParse(data).data;
  if (fields === undefined) return unreadable([...eventProblem, `data ${shapeOf(data)}`]);

  const amount = fields[events.amount];
  const type = reportedFields.shape.type.parse(fields[events.type]);
  const phoneNumber = reportedFields.shape.phone.parse(fields[events.phone_number]);
  const statusWord = wordOf(fields[events.status]) ?? "";
  if (isKnown && statuses.open.includes(statusWord)) return { kind: "ignored" };
  const upstreamReference = reportedReference.safeParse(fields[events.reference]).data;
  const status = finalStatusOf(statuses, statusWord);
  const isNegative = (typeof amount === "string" || typeof amount === "number") && /^\s*-/.test(String(amount));
  if (!isKnown || upstreamReference === undefined || status === undefined || isNegative) {
    const problems = [
      ...eventProblem,
      ...(upstreamReference === undefined ? [`reference ${shapeOf(fields[events.reference])}`] : []),
      ...(isNegative ? ["amount negative"] : []),
      `status ${printable(fields[events.status])}`,
    ];
    return unreadable(problems, upstreamReference);
  }
  return {
    kind: "readable",
    upstreamReference,
    status,
    ...(amount !== undefined && amount !== null && { amountKobo: koboFromSentNaira(amount) ?? "unreadable" }),
    ...(type !== undefined && { type: maskedDigits(translated(events.types, type)) }),
    ...(phoneNumber !== undefined && { phoneNumber }),
  };
};

/** Of `transaction.updated` the part `transaction.`: other events with it are about transactions too. */
const subjectOf = (name: string): string => name.slice(0, name.indexOf(".") + 1) || name;

const unreadable = (problems: readonly string[], upstreamReference?: string): ParsedEvent => ({
  kind: "unreadable",
  ...(upstreamReference !== undefined && { upstreamReference }),
  problem: problems.join(", "),
});

const wordOf = (value: unknown): string | undefined =>
  typeof value === "string" ? value.trim().toLowerCase() : undefined;

/** A single short word as it is; of anything else only the shape, because it may contain personal data. */
const printable = (value: unknown): string => {
  const word = typeof value === "string" ? value.trim() : "";
  return /^[A-Za-z][A-Za-z_.-]{0,29}$/.test(word) ? word : shapeOf(value);
};

const shapeOf = (value: unknown): string => {
  if (value === undefined) return "absent";
  if (value === null) return "null";
  if (typeof value === "string") return `text of ${value.length} characters`;
  return Array.isArray(value) ? `list of ${value.length}` : typeof value;
};
