import * as z from "#zod";

/**
 * A public surface, flat. `offers` is what its users rely on, and `demands` what they must do, each with what is said of
 * it: a new offer or a dropped demand breaks nobody; a changed or dropped offer, and a new or changed demand do.
 */
export const surfaceSchema = z.object({
  offers: z.record(z.string(), z.string()),
  demands: z.record(z.string(), z.string()),
});
export type Surface = z.output<typeof surfaceSchema>;

/** A surface that is being collected. */
export type SurfaceDraft = { readonly offers: Map<string, string>; readonly demands: Map<string, string> };

const SEPARATOR = " :: ";
/** What must be new for a demand to break nobody, and what is demanded of it. */
const demandKey = (of: string, what: string): string => `${of}${SEPARATOR}${what}`;
export const ownerOfDemand = (key: string): string => key.split(SEPARATOR)[0] ?? key;

/** To use `owner` one must give this part of it. */
export const demandPart = ({ demands }: SurfaceDraft, owner: string, part: string): void => {
  demands.set(demandKey(owner, `${part} is required`), "");
};
/** What is sent at `path` must be within a limit. */
export const demandLimit = ({ demands }: SurfaceDraft, path: string, name: string, limit: string): void => {
  demands.set(demandKey(path, name), limit);
};

export const newDraft = (): SurfaceDraft => ({ offers: new Map(), demands: new Map() });

export const finished = ({ offers, demands }: SurfaceDraft): Surface => {
  const sorted = (map: ReadonlyMap<string, string>) =>
    Object.fromEntries([...map].toSorted(([one], [other]) => (one < other ? -1 : 1)));
  return { offers: sorted(offers), demands: sorted(demands) };
};
