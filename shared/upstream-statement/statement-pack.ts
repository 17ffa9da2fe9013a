import * as z from "#zod";
import { type ChainEnd, type ChainedLine, chainedLines } from "../platform/chained-lines.ts";
import { type Statement, statementSchema } from "./statement.ts";
import { caseFactsSchema, type StatementCase, statementCaseSchema } from "./statement-case.ts";

/** What a line has of a stored object: without the fields of a later release, whose order is not fixed. */
const knownOf = <Shape extends z.core.$ZodLooseShape>({ shape }: z.ZodMiniObject<Shape>) => z.object(shape);

const { from, to, closing, compared, signed_off } = statementSchema.shape;
const comparedShape = compared.def.innerType.shape;
const { case_id, state, decisions, created_at } = statementCaseSchema.shape;

/** A signed-off day as chained lines: what was compared, by whom it was signed off, and each case with its decisions. */
export const packHeaderSchema = z.strictObject({
  day: z.iso.date(),
  ...{ from, to, closing: z.nullable(knownOf(closing.def.innerType)) },
  files: z.array(z.strictObject({ sha256: z.string(), rows: z.int(), by: z.string(), at: z.iso.datetime() })),
  compared: z.object({ ...comparedShape, totals: z.array(knownOf(comparedShape.totals.def.element)) }),
  signed_off: knownOf(signed_off.def.innerType),
});
export type PackHeader = z.infer<typeof packHeaderSchema>;

const { recordLine, ...lines } = chainedLines(
  packHeaderSchema,
  { case_id, state, facts: caseFactsSchema, decisions: z.array(knownOf(decisions.def.element)), created_at },
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
