import * as z from "#zod";

/** What a form holds, by field. Secrets are never part of it. */
export type Draft = KeptForm["values"];

/** An open form. `isInDoubt`: an attempt to send it had no answer, so the change may have been made. */
type KeptForm = z.output<typeof formSchema>;

const formSchema = z.object({
  values: z.record(z.string(), z.union([z.string(), z.boolean(), z.array(z.string())])),
  isInDoubt: z.boolean(),
});
const draftsSchema = z.object({ subject: z.string(), drafts: z.record(z.string(), formSchema) });

const STORED_AS = "console.drafts";

const openForms = new Map<string, () => KeptForm>();
let restored: Readonly<Record<string, KeptForm>> = {};

/** Has the draft of an open form kept while the person signs in again. Returns a function that ends this. */
export const keepDraft = (form: string, read: () => KeptForm): (() => void) => {
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
  if (stored?.subject !== subject) return;
  restored = stored.drafts;
};

/** The draft of this form from before the person signed in again. */
export const restoredDraft = (form: string): KeptForm | undefined => restored[form];

export const forgetDraft = (form: string): void => {
  const { [form]: _, ...others } = restored;
  restored = others;
};
