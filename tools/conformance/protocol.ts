import * as z from "#zod";

/** Source: docs/conformance.md. */

type Product =
  | { readonly kind: "airtime"; readonly network: string; readonly amount: number }
  | { readonly kind: "data"; readonly network_id: number; readonly plan_id: number };

/** What the kit writes, one JSON object per line. */
export type Command = {
  readonly id: string;
  readonly do: "buy";
  readonly reference: string;
  readonly phone_number: string;
} & Product;

export const answerSchema = z.object({
  id: z.string(),
  result: z.enum(["success", "processing", "failed", "unknown"]),
  reference: z.nullish(z.string()),
  error: z.nullish(z.string()),
});
/** What the adapter writes, one JSON object per line. */
export type Answer = z.output<typeof answerSchema>;
