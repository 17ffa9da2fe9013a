import * as z from "#zod";
import { type ChainEnd, type ChainedLine, chainedLines } from "../platform/chained-lines.ts";
import { type Statement, statementSchema } from "./statement.ts";
import { type StatementCase, statementCaseSchema } from "./statement-case.ts";

/** A signed-off day as chained lines: what was compared, by whom it was signed off, and each case with its decisions. */
export const packHeaderSchema = z.strictObject({
  day: z.iso.date(),
  ...z.pick(statementSchema, { from: true, to: true, closing: true }).shape,
  files: z.array(z.strictObject({ sha256: z.string(), rows: z.int(), by: z.string(), at: z.iso.datetime() })),
  compared: statementSchema.shape.compared.def.innerType,
  signed_off: statementSchema.shape.signed_off.def.innerType,
});
export type PackHeader = z.infer<typeof packHeaderSchema>;

const { recordLine, ...lines } = chainedLines(
  packHeaderSchema,
  z.pick(statementCaseSchema, { case_id: true, state: true, facts: true, decisions: true, created_at: true }).shape,
  "case",
);

export const { headerLine: packHeaderLine, verify: verifyPack } = lines;

/** Undefined unless the day is signed off. */
export const packHeaderOf = (statement: Statement): PackHeader | undefined => {
  const { day, from, to, closing, compared, signed_off } = statement;
  if (compared === null || signed_off === null) return undefined;
  const files = statement.files.filter(({ state }) => state === "whole");
  const named = files.map(({ sha256, rows, by, at }) => ({ sha256, rows, by, at }));
  return { day, from, to, closing, files: named, compared, signed_off };
};

export const caseLine = (end: ChainEnd, { case_id, state, facts, decisions, created_at }: StatementCase): ChainedLine =>
  recordLine(end, { case_id, state, facts, decisions, created_at });
