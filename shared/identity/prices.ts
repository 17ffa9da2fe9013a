import * as z from "zod";
import { nairaField } from "../contract/naira.ts";
import { koboFromNaira } from "../platform/money.ts";

const priceField = nairaField.positive().max(100_000).transform(koboFromNaira);

const subjectPrices = z
  .object({ basic: priceField, advanced: priceField, retrieve: priceField })
  .refine(({ basic, advanced, retrieve }) => retrieve > basic && retrieve > advanced, {
    error: "A retrieval must cost more than a verification",
    path: ["retrieve"],
  });

/**
 * What an identity request costs: NGN on the way in, kobo inside. Retrieval costs more than verification, basic and advanced
 * (INTERFACE "POST /identity/nin/retrieve"): a setting that says otherwise is refused at synth and at start.
 */
export const identityPrices = z.object({ nin: subjectPrices, bvn: subjectPrices });
export type IdentityPrices = z.output<typeof identityPrices>;

/** Reads the setting; throws what is wrong with it. */
export const parseIdentityPrices = (json: string): IdentityPrices => {
  const parsed = identityPrices.safeParse(JSON.parse(json));
  if (parsed.success) return parsed.data;
  throw new Error(`The identity prices are not valid.\n${z.prettifyError(parsed.error)}`);
};
