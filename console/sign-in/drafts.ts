import * as z from "#zod";

/** What a form holds, by field. Secrets are never part of it. */
export type Draft = z.output<typeof draftSchema>;

const draftSchema = z.record(z.string(), z.union([z.string(), z.boolean(), z.array(z.string())]));
const draftsSchema = z.object({ subject: z.string(), drafts: z.record(z.string(), draftSchema) });

const STORED_AS = "console.drafts";

const openForms = new Map<string, () => Draft>();
let restored: Readonly<Record<string, Draft>> = {};

/** Has the draft of an open form kept while the person signs in again. Returns a function that ends this. */
export const keepDraft = (form: string, read: () => Draft): (() => void) => {
  openForms.set(form, read);
  return () => {
    if (openForms.get(form) === read) openForms.delete(form);
  };
};

/** Stores the drafts of all open forms until this person comes back from the provider. */
export const storeDrafts = (subject: string): void => {
  const drafts = Object.fromEntries([...openForms].map(([form, read]) => [form, read()]));
  sessionStorage.setItem(STORED_AS, JSON.stringify({ subject, drafts }));
};

/** Takes the stored drafts out of the browser's storage. Those of another person are dropped. */
export const restoreDrafts = (subject: string): void => {
  const text = sessionStorage.getItem(STORED_AS);
  sessionStorage.removeItem(STORED_AS);
  if (text === null) return;
  const stored = draftsSchema.safeParse(JSON.parse(text)).data;
  if (stored?.subject === subject) restored = stored.drafts;
};

/** The draft of this form from before the person signed in again. */
export const restoredDraft = (form: string): Draft | undefined => restored[form];

export const forgetDraft = (form: string): void => {
  const { [form]: _, ...others } = restored;
  restored = others;
};
