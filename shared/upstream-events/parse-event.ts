import * as z from "zod";
import { TRANSACTION_UPDATED, type upstreamEvent, upstreamReference } from "../contract/upstream-event.ts";
import { type Kobo, koboFromSentNaira } from "../platform/money.ts";

/** What an event of the upstream says. */
export type ParsedEvent =
  /** Nothing that concerns us: another event, or a transaction that has not ended. */
  | { readonly kind: "ignored" }
  | {
      readonly kind: "readable";
      readonly reference: string;
      readonly status: "success" | "failed";
      /** Undefined where none was sent. */
      readonly amountKobo?: Kobo | "unreadable";
      readonly type?: string;
      readonly phoneNumber?: string;
    }
  /** An operator must look. `problem` says what could not be read, in a bounded form that holds nothing of a person. */
  | { readonly kind: "unreadable"; readonly reference?: string; readonly problem: string };

/** `data` of an event. Only reference and status are needed: what else cannot be read counts as absent. */
const eventData = z.object({
  reference: z.unknown().optional(),
  status: z.unknown().optional(),
  amount: z.unknown().optional(),
  type: z.string().max(40).optional().catch(undefined),
  phone_number: z.string().min(1).max(20).optional().catch(undefined),
});

/** Words whose meaning is certain. */
const finalWords: ReadonlyMap<string, "success" | "failed"> = new Map([
  ["success", "success"],
  ["successful", "success"],
  ["failed", "failed"],
]);
const openWords: ReadonlySet<string> = new Set(["processing", "pending"]);

/**
 * Reads an event as far as its meaning is certain. What is about a transaction and cannot be read is `unreadable`, and never
 * ignored: it may say that an order which stands as `success` was reversed.
 */
export const parseEvent = ({ event, data }: z.output<typeof upstreamEvent>): ParsedEvent => {
  const name = wordOf(event);
  if (name !== undefined && !name.startsWith("transaction.")) return { kind: "ignored" };
  const isKnown = name === TRANSACTION_UPDATED;
  const eventProblem = isKnown ? [] : [`event ${printable(event)}`];
  const parsed = eventData.safeParse(data).data;
  if (parsed === undefined) return unreadable([...eventProblem, `data ${shapeOf(data)}`]);

  const { amount, type, phone_number: phoneNumber } = parsed;
  const word = wordOf(parsed.status) ?? "";
  if (isKnown && openWords.has(word)) return { kind: "ignored" };
  const reference = upstreamReference.safeParse(parsed.reference).data;
  const status = finalWords.get(word);
  const isNegative = (typeof amount === "string" || typeof amount === "number") && /^\s*-/.test(String(amount));
  if (!isKnown || reference === undefined || status === undefined || isNegative) {
    const problems = [
      ...eventProblem,
      ...(reference === undefined ? [`reference ${shapeOf(parsed.reference)}`] : []),
      ...(isNegative ? ["amount negative"] : []),
      `status ${printable(parsed.status)}`,
    ];
    return unreadable(problems, reference);
  }
  return {
    kind: "readable",
    reference,
    status,
    ...(amount !== undefined && amount !== null && { amountKobo: koboFromSentNaira(amount) ?? "unreadable" }),
    ...(type !== undefined && { type }),
    ...(phoneNumber !== undefined && { phoneNumber }),
  };
};

const unreadable = (problems: readonly string[], reference?: string): ParsedEvent => ({
  kind: "unreadable",
  ...(reference !== undefined && { reference }),
  problem: problems.join(", "),
});

const wordOf = (value: unknown): string | undefined =>
  typeof value === "string" ? value.trim().toLowerCase() : undefined;

/** A single short word; of anything else, which may hold a person's data, only the shape. */
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
