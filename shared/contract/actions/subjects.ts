import * as z from "#zod";
import { modeSchema, transactionStatus, transactionType } from "../transaction.ts";
import { hasLongNumber, hasVirtualNin, isVirtualNin } from "../values/own-number.ts";
import { phoneNumberOf } from "../values/phone-number.ts";
import { type ActionTable, nairaAmount, nextCursor, serviceChange, typedReason } from "./action.ts";
import { consentView } from "./consents.ts";

export const subjectKind = z.enum(["nin", "bvn", "phone_number"]);
export type SubjectKind = z.infer<typeof subjectKind>;

/** The number in 11 digits, or a virtual NIN; undefined if the text is none. A phone number may have any spelling. */
export const subjectNumberOf = (kind: SubjectKind, text: string): string | undefined => {
  if (kind === "phone_number") return phoneNumberOf(text);
  const number = text.trim();
  return /^[0-9]{11}$/.test(number) || (kind === "nin" && isVirtualNin(number)) ? number : undefined;
};

/** Which request is answered. It is recorded, so that the number has no place in it. */
export const requestReason = typedReason.check(
  z.refine((why) => !hasLongNumber(why), "Must contain no number of ten or more digits: it is recorded"),
);

const subjectInput = z
  .object({
    kind: subjectKind,
    number: z.string().check(z.maxLength(60)),
    why: requestReason,
    cursor: z.optional(z.string().check(z.maxLength(1_000))),
  })
  .check(
    // The message does not repeat it.
    z.refine(({ kind, number }) => subjectNumberOf(kind, number) !== undefined, {
      path: ["number"],
      error: "Must be a NIN or BVN of 11 digits, or a Nigerian mobile number",
    }),
    z.refine(({ number, why }) => !hasVirtualNin(why, number.trim()), {
      path: ["why"],
      error: "Must not contain the virtual NIN: it is recorded",
    }),
  );

const owner = { account_id: z.string(), account_name: z.string(), key_id: z.string(), mode: modeSchema };

/** A consent with the name of its account, and how the check ended. */
const subjectCheck = z.extend(consentView, { account_name: z.string(), status: transactionStatus });
const subjectOrder = z.object({
  reference: z.string(),
  ...owner,
  type: transactionType,
  network: z.nullable(z.string()),
  amount: nairaAmount,
  status: transactionStatus,
  created_at: z.iso.datetime(),
});

const page = {
  /** What is newer may not be found yet. */
  until: z.iso.datetime(),
  /** Null on the last page. A page may be empty although it is set. */
  next_cursor: nextCursor,
};

/** What is kept of a person, by their number. A number is in the body of a POST, so in no address and no log. */
export const subjectsActions = {
  "subjects report": {
    scope: "service",
    roles: ["operator", "auditor"],
    kind: "read",
    inBody: true,
    audited: true,
    input: subjectInput,
    /** Oldest first: the checks of the person, then, of a phone number, the orders for it. */
    output: z.object({ checks: z.array(subjectCheck), orders: z.array(subjectOrder), ...page }),
    summary: "Report the identity checks of a person, or the orders for a phone number, of all accounts",
    command: "by hand",
  },
  "subjects erase": {
    ...serviceChange,
    irreversible: true,
    input: subjectInput,
    output: z.object({
      /** Counts of this and the earlier pages. */
      checks: z.int(),
      orders: z.int(),
      /** Not erased: they are open, or another write changed them at the same time. Erase again later. */
      open: z.int(),
      ...page,
    }),
    summary: "Erase the link between a person and their identity checks, or a phone number, in all accounts",
    command: "by hand",
  },
} as const satisfies ActionTable;

type Erasure = { readonly field: string; readonly result: "removed" | "masked" | "kept"; readonly because: string };

/** What an erasure does with each field about the person. */
export const erasure: readonly Erasure[] = [
  {
    field: "consent: subject, subject_key",
    result: "removed",
    because: "nobody can find the person's checks by them any more",
  },
  {
    field: "check: fingerprint",
    result: "removed",
    because: "it is made from the number too; its reference is 422 from then on",
  },
  {
    field: "order: phone_number, description",
    result: "masked",
    because: "the last two digits tell a customer's orders apart",
  },
  { field: "order: phone_key", result: "removed", because: "nobody can find the orders by it any more" },
  { field: "event: phone_masked", result: "masked", because: "the event is kept with the order" },
  {
    field: "event of an unknown order: phone_masked",
    result: "kept",
    because: "its seven digits do not tell whose it is; it is masked after phoneRetentionDays",
  },
  { field: "delivery: what an endpoint answered", result: "removed", because: "it is a text of an app" },
  {
    field: "consent: account, key, time, purpose, evidence",
    result: "kept",
    because: "they prove that the check was lawful, until consentRetentionDays",
  },
  {
    field: "order: amount, network, time, status, references",
    result: "kept",
    because: "tax and company law require the books",
  },
  {
    field: "order, event, statement: the upstream's reference",
    result: "kept",
    because: "the upstream finds the order by it; `upstream probe` says whether it is made of the number",
  },
  { field: "order: fingerprint", result: "kept", because: "without it a repeated request would buy a second time" },
  {
    field: "statement of the upstream: recipient's hash, SHA-256 of its file",
    result: "kept",
    because: "the supplier's bill is compared with the books; numbers can be tried against a file of few rows",
  },
  {
    field: "audit entry, and its copy",
    result: "kept",
    because: "it says who looked, and why in the person's words, with phone numbers masked",
  },
  {
    field: "correction, proposal, case, purchases switch: the reason",
    result: "kept",
    because: "it belongs to the decision, in the person's words, with phone numbers masked",
  },
  {
    field: "cache: sealed result, window for duplicates",
    result: "kept",
    because:
      "nothing reads them after 10 minutes, or after the window, and DynamoDB deletes them within some days of that",
  },
  {
    field: "queue, dead letter: a keyed hash, and seven digits of a number",
    result: "kept",
    because: "a message is deleted after 14 days at most",
  },
  {
    field: "stream of the table's changes, backup",
    result: "kept",
    because: "a change ends after 24 hours; a backup after 35 days, or as recovery says",
  },
];
