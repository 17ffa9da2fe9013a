import * as z from "#zod";
import { modeSchema, transactionType } from "../contract/transaction.ts";
import { type ChainEnd, type ChainedLine, chainedLines } from "../platform/chained-lines.ts";
import { type Consent, consentView, evidenceSchema } from "./consent.ts";

/** The consents of one account as chained lines. Subjects are left out. */
export const exportHeaderSchema = z.strictObject({
  account: z.string(),
  /** Null: from the account's first check. */
  from: z.nullable(z.iso.datetime()),
  to: z.iso.datetime(),
  exported_at: z.iso.datetime(),
});
export type ExportHeader = z.infer<typeof exportHeaderSchema>;

const { recordLine, ...lines } = chainedLines(
  exportHeaderSchema,
  {
    reference: z.string(),
    key_id: z.string(),
    mode: modeSchema,
    operation: transactionType,
    extent: z.string(),
    purpose: z.nullable(z.string()),
    evidence: z.nullable(z.object(evidenceSchema.shape)),
    created_at: z.iso.datetime(),
    request_id: z.string(),
  },
  "consent",
);

export const { headerLine, verify: verifyExport } = lines;

export const consentLine = (end: ChainEnd, consent: Consent): ChainedLine => {
  // The header has the account.
  const { account_id: _account, ...view } = consentView(consent);
  return recordLine(end, view);
};
