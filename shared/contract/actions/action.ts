import * as z from "#zod";
import { bookReadRoles, bookRoles, type Role, readRoles, roles } from "../roles.ts";
import { WITHOUT_CONTROLS } from "../values/control-characters.ts";
import { maskedText } from "../values/mask-phones.ts";
import { numberFromText } from "../values/typed-number.ts";

/** The admin command of an action. It has the action's name, and its exit code is 1 if the output's `ok` is false. */
export type ActionCommand = {
  /**
   * The fields of the input as they are typed, arguments in their order: `<account>`, `<range...>`, `--id <reference>`,
   * with the descriptions of their schemas. `why` is always `--why <reason>`; other fields are not taken.
   */
  readonly takes?: Readonly<Record<string, string>>;
  /** What is taken as typed if the option is absent, where the schema has no default. */
  readonly fallbacks?: Readonly<Record<string, string>>;
  /** The arguments and options of an example. */
  readonly example?: string;
  /**
   * A table of the records in one field of the output, with these fields of theirs. A heading is the field's name without
   * `_id` and `_at`, or stands after it: `value: owner`. Of texts, the only column has a heading. By default each field of
   * the output has a line.
   */
  readonly table?: { readonly rows: string; readonly columns: readonly string[] };
  /** On a deployed stage it asks first, although the action needs no reason. */
  readonly asks?: true;
  /** A sentence below the output. */
  readonly note?: string;
};

/** Something that a person does in the console, or an operator with the admin commands. */
export type Action<Input extends z.ZodMiniObject = z.ZodMiniObject, Output extends z.ZodMiniType = z.ZodMiniType> = {
  /**
   * `account`: on the account that the input's `account` names; its owners may do it. Only people with a role may
   * leave it out, where the input allows that. `service`: on several accounts or
   * the whole service. `member`: on what the person sees: everything, or the accounts that the person owns; one who has
   * neither a role nor an account is refused. `person`: about the person who signed in, whatever their role.
   */
  readonly scope: "account" | "service" | "member" | "person";
  /** Who may do it, beside an account's owners where the scope allows them. */
  readonly roles: readonly Role[];
  /** A `read` changes nothing; a `change` writes an audit entry. */
  readonly kind: "read" | "change";
  /** Of a read: its input may have a phone number, which must be in no address. */
  readonly inBody?: true;
  /** It cannot be undone: the page asks for the name of what it changes, unless that is all that it shows. */
  readonly irreversible?: true;
  /** Another action ends it, but callers are refused until then: the page asks for the name of what it changes. */
  readonly confirm?: true;
  /** It changes a balance. */
  readonly movesMoney?: true;
  /** In a stage with the setting `fourEyes` one person proposes it and another approves it. */
  readonly fourEyes?: true;
  /** A read that writes an audit entry nevertheless. Its output is an export, which nobody may alter. */
  readonly audited?: true;
  /** It shows phone numbers or the purposes of checks: a read by anyone but an owner writes an audit entry. */
  readonly personal?: true;
  /** The query of a GET, so its values are texts; the JSON body of a POST (`methodOf`). */
  readonly input: Input;
  /** `data` of the success envelope. */
  readonly output: Output;
  readonly summary: string;
  /**
   * `by hand`: `tools/admin/commands` has a command of this name, which does more than the action. `none`: there is no
   * command.
   */
  readonly command: ActionCommand | "by hand" | "none";
};

/**
 * Whether it is done with a reason only, and asked about before: in the console, and by the command line on a deployed
 * stage.
 */
export const needsReason = ({ irreversible, confirm, movesMoney }: Action): boolean =>
  irreversible === true || confirm === true || movesMoney === true;

export const methodOf = ({ kind, inBody }: Pick<Action, "kind" | "inBody">): "GET" | "POST" =>
  kind === "read" && inBody === undefined ? "GET" : "POST";

/** Actions by name: `keys create` is `POST /console-api/keys/create`. */
export type ActionTable = Readonly<Record<string, Action>>;

// Who may do what most actions do. An action that none of these fits says it by itself.

/** Of an account: its owners, and people with any role. */
export const accountRead = { scope: "account", roles, kind: "read" } as const;
/** Of an account: its owners, and operators. */
export const accountChange = { scope: "account", roles: ["operator"], kind: "change" } as const;
/** What operators work on. */
export const serviceRead = { scope: "service", roles: readRoles, kind: "read" } as const;
/** By operators alone. */
export const serviceChange = { scope: "service", roles: ["operator"], kind: "change" } as const;
/** The books. */
export const bookRead = { scope: "service", roles: bookReadRoles, kind: "read" } as const;
export const bookChange = { scope: "service", roles: bookRoles, kind: "change" } as const;

/** NGN in an output. */
export const nairaAmount = z.number().register(z.globalRegistry, { unit: "NGN" });

/** What names an item is bounded, because DynamoDB fails for a key that is empty, too long or no Unicode. */
export const accountField = z
  .string()
  .check(z.regex(/^\w{1,60}$/, "Must be an account id such as acc_0123456789abcdef01"));

export const accountInput = z.object({ account: accountField });

/** What another field names belongs to an account, which people with a role may leave out. */
export const itemInput = z.object({
  account: z
    .optional(accountField)
    .register(z.globalRegistry, { description: "the account, if <reference> is the caller's own" }),
});

/** The most days that are reported at once. */
export const REPORTED_DAYS_MAX = 92;
const reportedDay = (example: string, which: string) =>
  z.iso
    .date(`Must be a date such as ${example}`)
    .register(z.globalRegistry, { description: `the ${which} day, in the time zone of the stage` });
/** What every report takes: its days, and where the next page of accounts begins. */
export const reportInput = {
  cursor: z.optional(z.string().check(z.maxLength(400))),
  from: reportedDay("2026-11-01", "first"),
  to: reportedDay("2026-11-30", "last"),
};

/** The `cursor` of the next page; null on the last. */
export const nextCursor = z.nullable(z.string());

/** A page of a report: the sums of some accounts. Those of the same group in other pages belong to the same row. */
export const reportPage = {
  /** How many accounts the page has. */
  accounts: z.int(),
  /** Orders of these accounts that were created later, or are open, may be missing; null without an account. */
  complete_until: z.nullable(z.iso.datetime()),
  next_cursor: nextCursor,
};

/** What the rows of a report are grouped by: some of these, comma-separated. */
export const reportGroups = (groups: readonly string[], byDefault: string) => {
  const group = `(${groups.join("|")})`;
  return z
    ._default(
      z.string().check(z.regex(new RegExp(`^${group}(,${group})*$`), `Must be some of ${groups.join(",")}`)),
      byDefault,
    )
    .register(z.globalRegistry, { description: `comma-separated, of ${groups.join(", ")}` });
};

/** A number that people type, or that an address has, as text. */
export const typedNumber = z.pipe(
  z.transform((typed: unknown) => (typeof typed === "string" ? numberFromText(typed) : typed)),
  z.number("Must be a number such as 5000 or -2.5"),
);

/** Text that terminals display later. */
export const printableText = z
  .string()
  .check(
    z.trim(),
    z.regex(WITHOUT_CONTROLS, "Must not contain control or invisible characters; some emoji contain one"),
  );

/** What an operator is called in the audit log. */
export const operatorName = printableText.check(z.minLength(1), z.maxLength(100));

/** The longest of the caller's own and of the upstream's. */
const REFERENCE_MAX = 100;

/** Our reference, the caller's or the upstream's. */
export const referenceInput = printableText.check(z.minLength(1), z.maxLength(REFERENCE_MAX));

const SENDING_RULE = "Must be waits, or a time as transactions show --json has it";
/** The sending of an order that a person saw: when it began, or that the order waits for one. */
export const sendingField = z.union([z.literal("waits"), z.iso.datetime(SENDING_RULE)], SENDING_RULE);

/** What the person, or the script, saw: if the order has begun to wait or was sent since, nothing is settled. */
export const seenSending = z.optional(
  sendingField.check(z.meta({ description: "refuse unless the order was sent at this time, or waits" })),
);

/** A reason as a person types it. */
export const typedReason = printableText
  .check(z.minLength(3), z.maxLength(500))
  .register(z.globalRegistry, { description: "reason to record in the audit log" });

/** The same, as it is kept: no retention and no erasure reaches it (decision 0005). */
export const whySchema = typedReason.check(z.overwrite((why) => maskedText(why)));

/** What every change takes. */
export const changeInput = z.object({ why: z.optional(whySchema) });

export const accountChangeInput = z.extend(accountInput, changeInput.shape);
export const itemChangeInput = z.extend(itemInput, changeInput.shape);
