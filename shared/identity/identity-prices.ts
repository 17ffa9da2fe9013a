import * as z from "#zod";
import { koboFromNaira, nairaField } from "../contract/values/money.ts";

const priceField = z.pipe(nairaField.check(z.positive(), z.maximum(100_000)), z.transform(koboFromNaira));

const idTypePrices = z.object({ basic: priceField, advanced: priceField, retrieve: priceField }).check(
  z.refine(({ basic, advanced, retrieve }) => retrieve > basic && retrieve > advanced, {
    error: "A retrieval must cost more than a verification",
    path: ["retrieve"],
  }),
);

/**
 * Prices of identity requests: NGN in the setting, kobo in the code. A retrieval must cost more than a verification;
 * other settings are refused at synth and at start. Source: docs/interface.md 12.5, 12.D14.
 */
export const identityPrices = z.object({ nin: idTypePrices, bvn: idTypePrices });
export type IdentityPrices = z.output<typeof identityPrices>;

/** Parses the setting; throws if it is not valid. */
export const parseIdentityPrices = (json: string): IdentityPrices => {
  const parsed = identityPrices.safeParse(JSON.parse(json));
  if (parsed.success) return parsed.data;
  throw new Error(`The identity prices are not valid.\n${z.prettifyError(parsed.error)}`);
};
