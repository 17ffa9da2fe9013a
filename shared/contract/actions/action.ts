import * as z from "zod";

/** Something that a person does in the console, or an operator with the admin commands. */
export type Action<Input extends z.ZodObject = z.ZodObject, Output extends z.ZodType = z.ZodType> = {
  /**
   * `account`: on the account that the input's `account` names; its owners may do it. `service`: on several accounts or
   * the whole service. `person`: about the person who signed in, whatever their role.
   */
  readonly scope: "account" | "service" | "person";
  /** A `read` changes nothing and is a GET; a `change` writes an audit entry and is a POST. */
  readonly kind: "read" | "change";
  /** It cannot be undone: the page asks for the name of what it changes. */
  readonly irreversible?: true;
  /** Another action ends it, but callers are refused until then: the page asks for the name of what it changes. */
  readonly confirm?: true;
  /** It changes a balance. */
  readonly movesMoney?: true;
  /** A read that writes an audit entry nevertheless. Its output is an export, which nobody may alter. */
  readonly audited?: true;
  /** The query of a GET, so its values are texts; the JSON body of a POST. */
  readonly input: Input;
  /** `data` of the success envelope. */
  readonly output: Output;
  readonly summary: string;
};

/** Whether the console does it with a reason only. */
export const needsReason = ({ irreversible, confirm, movesMoney }: Action): boolean =>
  irreversible === true || confirm === true || movesMoney === true;

/** Actions by name: `keys create` is `POST /console-api/keys/create`. */
export type ActionTable = Readonly<Record<string, Action>>;

/** What names an item is bounded, because DynamoDB fails for a key that is empty, too long or no Unicode. */
export const accountField = z.string().regex(/^\w{1,60}$/, "Must be an account id such as acc_0123456789abcdef01");

export const accountInput = z.object({ account: accountField });

/**
 * Text that terminals display later: control characters could move the cursor or hide a part of it. Half a surrogate
 * pair is no Unicode.
 */
export const printableText = z
  .string()
  .trim()
  .regex(/^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]*$/u, "Must not contain control characters");

/** The longest of the caller's own and of the upstream's. */
const REFERENCE_MAX = 100;

/** Our reference, the caller's or the upstream's. */
export const referenceInput = printableText
  .min(1, "Must not be empty")
  .max(REFERENCE_MAX, `Must be at most ${REFERENCE_MAX} characters`);

/** The reason in the audit entry. */
export const whySchema = printableText
  .min(3, "Must have at least 3 characters")
  .max(500, "Must be at most 500 characters");

/** What every change takes. */
export const changeInput = z.object({ why: whySchema.optional() });

export const accountChangeInput = accountInput.extend(changeInput.shape);
