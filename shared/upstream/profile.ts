import * as z from "#zod";
import type { FinalStatus } from "../contract/final-status.ts";
import { lazyStrictObject } from "../contract/lazy-object.ts";
import { rateGroups } from "../contract/limits.ts";
import { transactionType } from "../contract/transaction.ts";
import { UPSTREAM_TRANSACTION_UPDATED } from "../contract/upstream-event.ts";
import { dateOrders } from "../contract/values/date-order.ts";

/** AWS limits all variables of a function to 4 KB together. Source: AWS Lambda, "Lambda quotas". */
export const PROFILE_LENGTH_MAX = 2_000;

const pathText = z.string("A path is text that begins with /").check(
  // It would be resolved into another path, such as that of an order.
  z.refine((path) => !/(^|\/)\.\.?(\/|$)/.test(path), "A path has no part . or .."),
);
const ownPath = pathText.check(
  z.regex(/^\/[\w./-]{1,100}$/, "A path begins with / and has letters, digits, dots, hyphens, _ and / only"),
);
const ownFieldName = z
  .string("A field's name is text")
  .check(z.regex(/^[A-Za-z_][\w.-]{0,39}$/, "A field's name begins with a letter and has 40 characters at most"));
const fieldName = (documented: string) => z._default(ownFieldName, documented);
const headerName = z.pipe(
  z.string().check(z.regex(/^[A-Za-z0-9-]{1,100}$/, "A header's name has letters, digits and hyphens only")),
  z.transform((name) => name.toLowerCase()),
);

/**
 * How the upstream signs its events: HMAC-SHA256 over the exact bytes of the body. Its interface names neither header
 * nor encoding.
 */
export const eventSignature = lazyStrictObject(() => ({
  header: headerName,
  encoding: z.enum(["hex", "base64"], "The encoding must be hex or base64"),
  /** Precedes the signature in the header, such as `sha256=`. */
  prefix: z._default(
    z.string().check(z.regex(/^[\x21-\x7e]{0,20}$/, "A prefix has at most 20 printable characters")),
    "",
  ),
}));
export type EventSignature = z.output<typeof eventSignature>;

/** Statuses by which the upstream may refuse an order for certain. Every other one needs the message too. */
const refusalStatus = z
  .int()
  .check(
    z.refine(
      (status) => status === 200 || (status >= 400 && status <= 499),
      "Only 200 and 400 to 499 can refuse an order by themselves: anything in front of the upstream may send the others",
    ),
  );

/** Which orders carry our own reference: all of them, or only the kind for which the upstream documents the field. */
const referenceScopes = ["all", "documented"] as const;

/** Takes the place of the reference in the path of a lookup. */
export const REFERENCE_PLACE = "{reference}";

const lookupFields = lazyStrictObject(() => ({
  method: z._default(z.enum(["GET", "POST"], "A lookup is a GET or a POST"), "GET"),
  path: pathText.check(
    z.regex(
      /^\/[\w./-]{0,100}(\{reference\}[\w./-]{0,100})?$/,
      `A path begins with / and has letters, digits, dots, hyphens, _, / and ${REFERENCE_PLACE} only`,
    ),
  ),
  field: z.optional(ownFieldName),
  transaction: fieldName("transaction"),
  reference: fieldName("reference"),
  /** Has the reference that we gave the order. Without it the upstream's own must be known before `failed` refunds. */
  our_reference: z.optional(ownFieldName),
  status: fieldName("status"),
  amount: fieldName("amount"),
  type: fieldName("type"),
  phone_number: fieldName("phone_number"),
}));

/**
 * How the upstream is asked for an order. The reference is a part of the path, a parameter of a GET's query, or a field
 * of a POST's body. An answer is in the upstream's envelope, with the order in `data`.
 */
const lookup = z.pipe(
  lookupFields,
  z.custom<z.output<typeof lookupFields>>().check(
    z.refine(({ path, field }) => path.includes(REFERENCE_PLACE) !== (field !== undefined), {
      error: `The reference goes into the path, as ${REFERENCE_PLACE}, or into a field`,
    }),
    z.refine(({ method, field }) => method === "GET" || field !== undefined, {
      error: "A POST has the reference in a field of its body",
      path: ["field"],
    }),
  ),
);

/** How the upstream is asked for our balance, in NGN: a GET, whose answer is in the upstream's envelope. */
const balance = lazyStrictObject(() => ({
  path: ownPath,
  /** The field of `data` that has the field of the balance; absent if `data` itself has it. */
  object: z.optional(ownFieldName),
  field: fieldName("balance"),
}));

/**
 * An entry of several fields, with what docs/interface.md says of each, to the letter. Its schemas are made for a stage
 * that names the entry, because most stages name few (decision 0025).
 */
const entryOf = <
  Fields extends Record<string, z.ZodMiniType>,
  Documented extends z.core.util.NoUndefined<z.output<z.ZodMiniObject<Fields>>>,
>(
  documented: Documented,
  makeFields: (documented: Documented) => Fields,
) =>
  z._default(
    lazyStrictObject(() => makeFields(documented)),
    documented,
  );

/** Fields of one form. */
function each<Name extends string, Form extends z.ZodMiniType>(
  documented: Readonly<Record<Name, z.output<Form>>>,
  form: Form,
): Record<Name, z.ZodMiniDefault<Form>>;
function each(documented: Readonly<Record<string, unknown>>, form: z.ZodMiniType): Record<string, z.ZodMiniDefault> {
  return Object.fromEntries(Object.entries(documented).map(([name, value]) => [name, z._default(form, value)]));
}

const entries = {
  /** Below the base URL. */
  paths: entryOf(
    {
      catalog: "/vtu/data",
      data: "/vtu/data/purchase",
      airtime: "/vtu/airtime/purchase",
      nin_verification: "/identity/nin/verify",
      nin_retrieval: "/identity/nin/retrieve",
      bvn_verification: "/identity/bvn/verify",
      bvn_retrieval: "/identity/bvn/retrieve",
    },
    (documented) => each(documented, ownPath),
  ),
  /** The header that carries the key, and what precedes the key in it. */
  key: entryOf({ header: "authorization", prefix: "Bearer " }, ({ header, prefix }) => ({
    header: z._default(headerName, header),
    prefix: z._default(
      z.string().check(z.regex(/^[\x20-\x7e]{0,20}$/, "A prefix has at most 20 printable characters")),
      prefix,
    ),
  })),
  /** The upstream's names of the fields of orders. */
  fields: entryOf(
    {
      network_id: "network_id",
      plan_id: "plan_id",
      network: "network",
      amount: "amount",
      phone_number: "phone_number",
      nin: "nin",
      bvn: "bvn",
      mode: "mode",
      is_consent: "is_consent",
      reference: "reference",
    },
    (documented) => each(documented, ownFieldName),
  ),
  /** The name of a network in airtime orders, by its code in the catalog; the code itself where none is named. */
  networks: z._default(
    z.lazy(() =>
      z.record(z.string().check(z.toLowerCase()), z.string().check(z.minLength(1, "A network's name is not empty"))),
    ),
    {},
  ),
  /** The names of fields in answers: of the two objects below `data`, and of the transaction's fields. */
  answers: entryOf(
    { transaction: "transaction", result: "result", reference: "reference", status: "status", amount: "amount" },
    (documented) => each(documented, ownFieldName),
  ),
  /** What a transaction's status means, in answers and in events. Upper and lower case are the same. */
  statuses: entryOf(
    { success: ["success", "successful"], failed: ["failed"], open: ["processing", "pending"] },
    (documented) => {
      const word = z.pipe(
        z.string().check(z.regex(/^\S(.{0,38}\S)?$/, "A word has 1 to 40 characters, and no space around it")),
        z.transform((word) => word.toLowerCase()),
      );
      const words = z.array(word, "Words are a list of texts").check(z.minLength(1, "Name a word at least"));
      return each(documented, words);
    },
  ),
  /** Answers in the upstream's envelope by which it refuses an order for certain. */
  refusals: entryOf(
    { statuses: [200, 400, 401, 403, 404, 405, 413, 415, 422, 429], messages: [] },
    ({ statuses, messages }) => ({
      statuses: z._default(z.array(refusalStatus), statuses),
      /** With these statuses only together with exactly this message, upper and lower case being the same. */
      messages: z._default(
        z.array(
          z.strictObject({
            status: z.int().check(z.minimum(200, "A status is 200 to 599"), z.maximum(599, "A status is 200 to 599")),
            message: z
              .string()
              .check(z.minLength(5, "A message that refuses for certain has at least 5 characters"), z.maxLength(200)),
          }),
        ),
        messages,
      ),
    }),
  ),
  /** The event about a transaction, the names of the fields in its `data`, and the upstream's words for types. */
  events: entryOf(
    {
      name: UPSTREAM_TRANSACTION_UPDATED,
      reference: "reference",
      status: "status",
      amount: "amount",
      type: "type",
      phone_number: "phone_number",
      types: {},
    },
    ({ name, types, ...fields }) => ({
      ...each(fields, ownFieldName),
      name: z._default(
        z.pipe(
          z.string().check(z.regex(/^[\w.-]{1,60}$/, "An event's name has letters, digits, dots, hyphens and _ only")),
          z.transform((name) => name.toLowerCase()),
        ),
        name,
      ),
      types: z._default(z.record(z.string().check(z.toLowerCase()), transactionType), types),
    }),
  ),
  /** Absent if the upstream signs nothing. The key is a secret. */
  signature: z.optional(eventSignature),
  /** Requests that the upstream takes from a key in a minute, until an answer says another number. */
  limits: entryOf(
    {
      vtu: rateGroups.vtu.requestsPerMinute,
      identity: rateGroups.identity.requestsPerMinute,
      catalog: rateGroups.catalog.requestsPerMinute,
    },
    (documented) =>
      each(
        documented,
        z.int("A limit is a whole number of requests in a minute").check(z.minimum(1, "A limit is at least 1")),
      ),
  ),
  /** Absent if the upstream cannot be asked for an order: its document does not show how. */
  lookup: z.optional(lookup),
  /** Absent if the upstream cannot be asked for our balance: its document does not show how. */
  balance: z.optional(balance),
  /** Which number comes first in the upstream's dates, such as `01/02/1990`. */
  dates: z._default(z.enum(dateOrders, `Dates are ${dateOrders.join(" or ")}`), "day-first"),
  /** Whether it takes a virtual NIN of 16 characters in place of a NIN. */
  virtual_nin: z._default(z.boolean("virtual_nin is true or false"), false),
} as const;

/** The fields that each request has, beside our reference. */
export const requestFields = {
  data: ["network_id", "plan_id", "phone_number"],
  airtime: ["network", "amount", "phone_number"],
  nin_verification: ["nin", "mode", "is_consent"],
  nin_retrieval: ["phone_number", "is_consent"],
  bvn_verification: ["bvn", "mode", "is_consent"],
  bvn_retrieval: ["phone_number", "is_consent"],
} as const satisfies Readonly<Record<OrderKind, readonly (keyof UpstreamProfile["fields"])[]>>;

const hasTwice = (names: readonly string[]): boolean => new Set(names).size !== names.length;

const reference = z.enum(referenceScopes, 'The reference goes with "all" orders, or with those "documented"');

/** Without the slashes that a server may ignore. */
const trimmed = (path: string): string => path.split("/").filter(Boolean).join("/").toLowerCase();

/** What the service must know of an upstream to use it. `documented` is the interface document, to the letter. */
const upstreamProfile = z.strictObject({ reference, ...entries }).check(
  z.superRefine(({ statuses, fields, answers, events, paths, lookup }, context) => {
    if (hasTwice(Object.values(statuses).flat())) {
      context.addIssue({ code: "custom", path: ["statuses"], message: "A word has one meaning only" });
    }
    const requests = Object.values(requestFields).map((sent) => ["reference", ...sent] as const);
    if (requests.some((sent) => hasTwice(sent.map((field) => fields[field])))) {
      context.addIssue({ code: "custom", path: ["fields"], message: "Two fields of one request have the same name" });
    }
    for (const [entry, names] of Object.entries({ answers, events, ...(lookup && { lookup }) })) {
      const { reference, status, amount } = names;
      const ofOrder = "type" in names ? [names.type, names.phone_number] : [];
      if (!hasTwice([reference, status, amount, ...ofOrder])) continue;
      context.addIssue({ code: "custom", path: [entry], message: "Two fields of an order have the same name" });
    }
    if (lookup !== undefined && Object.values(paths).some((path) => trimmed(path) === trimmed(lookup.path))) {
      const message = "A lookup must not have the path of another request: it would place an order";
      context.addIssue({ code: "custom", path: ["lookup", "path"], message });
    }
  }),
);
export type UpstreamProfile = z.output<typeof upstreamProfile>;
export type BalanceProfile = NonNullable<UpstreamProfile["balance"]>;
export type LookupProfile = NonNullable<UpstreamProfile["lookup"]>;

/** The differences of an upstream from the document, as a stage names them. */
export type ProfileChanges = Partial<z.input<typeof upstreamProfile>>;

/** Profiles begin with this one: the letter of the document, in which only data purchases have a reference. */
const DOCUMENTED = { reference: "documented" } as const satisfies ProfileChanges;

export const profileOf = (changes: ProfileChanges): UpstreamProfile =>
  upstreamProfile.parse({ ...DOCUMENTED, ...changes });

/** A setting of a stage: each mistake is an issue with a sentence. The value stays as it was written. */
export const profileChanges = z.custom<ProfileChanges>().check(
  z.superRefine((changes, context) => {
    const isObject = typeof changes === "object" && changes !== null;
    const { error } = upstreamProfile.safeParse(isObject ? { ...DOCUMENTED, ...changes } : changes);
    for (const { path, message } of error?.issues ?? []) context.addIssue({ code: "custom", path, message });
    const { length } = JSON.stringify(changes ?? null);
    if (length <= PROFILE_LENGTH_MAX) return;
    const message = `The profile has ${length} characters as JSON: functions can be given ${PROFILE_LENGTH_MAX}`;
    context.addIssue({ code: "custom", message });
  }),
);

/** The setting as functions get it: JSON. */
export const parseUpstreamProfile = (setting: string): UpstreamProfile =>
  upstreamProfile.parse({ ...DOCUMENTED, ...z.looseObject({}).parse(JSON.parse(setting)) });

/** Kinds of orders, as transactions name them. */
export type OrderKind = Exclude<keyof UpstreamProfile["paths"], "catalog">;

/** Whether an order of this kind carries our own reference. The document shows the field for data purchases only. */
export const carriesReference = ({ reference }: UpstreamProfile, kind: OrderKind): boolean =>
  reference === "all" || kind === "data";

/** A final status, if the word certainly means one. */
export const finalStatusOf = (
  { success, failed }: UpstreamProfile["statuses"],
  word: string,
): FinalStatus | undefined => {
  if (success.includes(word)) return "success";
  return failed.includes(word) ? "failed" : undefined;
};

/** A word in the other side's language, where the profile has it. A sent word may be the name of a property of all objects. */
export const translated = (words: Readonly<Record<string, string>>, word: string): string =>
  (Object.hasOwn(words, word) ? words[word] : undefined) ?? word;
