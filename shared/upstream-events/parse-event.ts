import * as z from "zod";
import { type Kobo, koboFromSentNaira } from "../contract/money.ts";
import { TRANSACTION_UPDATED, type upstreamEvent, upstreamReferenceSchema } from "../contract/upstream-event.ts";

/** An event of the upstream, as far as it could be read. */
export type ParsedEvent =
  /** Another kind of event, or a transaction that is still open. */
  | { readonly kind: "ignored" }
  | {
      readonly kind: "readable";
      readonly upstreamReference: string;
      readonly status: "success" | "failed";
      /** Absent if none was sent. */
      readonly amountKobo?: Kobo | "unreadable";
      readonly type?: string;
      readonly phoneNumber?: string;
    }
  /** For the operator. `problem` describes what could not be read: bounded, and without personal data. */
  | { readonly kind: "unreadable"; readonly upstreamReference?: string; readonly problem: string };

/** Only reference and status are required: any other field that cannot be read counts as absent. */
const eventData = z.object({
  reference: z.unknown().optional(),
  status: z.unknown().optional(),
  amount: z.unknown().optional(),
  type: z.string().max(40).optional().catch(undefined),
  phone_number: z.string().min(1).max(20).optional().catch(undefined),
});

/** Only words whose meaning is certain. */
const finalStatusWords: ReadonlyMap<string, "success" | "failed"> = new Map([
  ["success", "success"],
  ["successful", "success"],
  ["failed", "failed"],
]);
const openStatusWords: ReadonlySet<string> = new Set(["processing", "pending"]);

/**
 * Reads an event only where its meaning is certain. An event about a transaction that cannot be read is `unreadable`,
 * never ignored: it may report that a delivered order was reversed.
 */
export const parseEvent = ({ event, data }: z.output<typeof upstreamEvent>): ParsedEvent => {
  const eventName = wordOf(event);
  if (eventName !== undefined && !eventName.startsWith("transaction.")) return { kind: "ignored" };
  const isKnown = eventName === TRANSACTION_UPDATED;
  const eventProblem = isKnown ? [] : [`event ${printable(event)}`];
  const parsed = eventData.safeParse(data).data;
  if (parsed === undefined) return unreadable([...eventProblem, `data ${shapeOf(data)}`]);

  const { amount, type, phone_number: phoneNumber } = parsed;
  const statusWord = wordOf(parsed.status) ?? "";
  if (isKnown && openStatusWords.has(statusWord)) return { kind: "ignored" };
  const upstreamReference = upstreamReferenceSchema.safeParse(parsed.reference).data;
  const status = finalStatusWords.get(statusWord);
  const isNegative = (typeof amount === "string" || typeof amount === "number") && /^\s*-/.test(String(amount));
  if (!isKnown || upstreamReference === undefined || status === undefined || isNegative) {
    const problems = [
      ...eventProblem,
      ...(upstreamReference === undefined ? [`reference ${shapeOf(parsed.reference)}`] : []),
      ...(isNegative ? ["amount negative"] : []),
      `status ${printable(parsed.status)}`,
    ];
    return unreadable(problems, upstreamReference);
  }
  return {
    kind: "readable",
    upstreamReference,
    status,
    ...(amount !== undefined && amount !== null && { amountKobo: koboFromSentNaira(amount) ?? "unreadable" }),
    ...(type !== undefined && { type }),
    ...(phoneNumber !== undefined && { phoneNumber }),
  };
};

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
