import * as z from "#zod";
import { functionNames, specOf } from "../../infra/functions.ts";
import { tables } from "../../infra/tables.ts";
import { accountSchema } from "../../shared/access/account-store.ts";
import { keyItemSchema } from "../../shared/access/key-store.ts";
import { ownerItemSchema } from "../../shared/access/owner-item.ts";
import { personItemSchema } from "../../shared/access/person-item.ts";
import { catalogItem } from "../../shared/catalog/catalog-store.ts";
import { erasure } from "../../shared/contract/actions/subjects.ts";
import { consentSchema } from "../../shared/identity/consent.ts";
import { replayItem } from "../../shared/identity/replay-store.ts";
import { placedEntrySchema } from "../../shared/ledger/audit.ts";
import { attestationSchema, linkSchema } from "../../shared/ledger/audit-chain.ts";
import { checkpointSchema } from "../../shared/ledger/checkpoint.ts";
import { duplicateGuardSchema } from "../../shared/ledger/duplicate-guard.ts";
import { ledgerEntrySchema } from "../../shared/ledger/ledger-entry.ts";
import {
  accountPeriodSchema,
  periodLinesSchema,
  periodReplacementSchema,
  servicePeriodSchema,
} from "../../shared/ledger/period.ts";
import { proposalSchema } from "../../shared/ledger/proposal.ts";
import { referenceKeySchema } from "../../shared/ledger/reference-key.ts";
import { refundSchema } from "../../shared/ledger/refund.ts";
import {
  type AuditItemKind,
  auditItemKinds,
  auditKeyPattern,
  itemKinds,
  keyPatternOf,
  type LedgerItemKind,
} from "../../shared/ledger/schema.ts";
import { transactionSchema } from "../../shared/ledger/transaction.ts";
import { upstreamReferenceSchema } from "../../shared/ledger/upstream-reference.ts";
import { keyUsageSchema } from "../../shared/ledger/usage.ts";
import { walletSchema } from "../../shared/ledger/wallet.ts";
import { floatPaymentSchema, floatSchema } from "../../shared/margin/float.ts";
import { orderSumsSchema } from "../../shared/margin/order-sums.ts";
import { notifiedSchema } from "../../shared/notifications/notified.ts";
import { recipientSchema } from "../../shared/notifications/recipient.ts";
import { partsSchema, purchasesSwitch } from "../../shared/orders/purchases-switch.ts";
import { upstreamRefusalSchema } from "../../shared/orders/upstream-refusal.ts";
import { verificationSchema } from "../../shared/periods/verify-periods.ts";
import { type CacheItemKind, cacheItemKinds, cacheKeyPattern } from "../../shared/platform/cache-keys.ts";
import { priceListItemSchema } from "../../shared/prices/price-list.ts";
import { upstreamPaceSchema } from "../../shared/queued-orders/upstream-pace.ts";
import { progressSchema } from "../../shared/reconciliation/phone-retention.ts";
import { dayItem } from "../../shared/statistics/daily-balances.ts";
import { storedEventSchema } from "../../shared/upstream-events/stored-event.ts";
import { lookupRecordSchema } from "../../shared/upstream-lookup/lookup-record.ts";
import { upstreamBalanceSchema } from "../../shared/upstream-lookup/upstream-balance.ts";
import { statementSchema } from "../../shared/upstream-statement/statement.ts";
import { statementCaseSchema } from "../../shared/upstream-statement/statement-case.ts";
import { statementRowsSchema } from "../../shared/upstream-statement/statement-rows.ts";
import { deliverySchema } from "../../shared/webhooks/delivery.ts";
import { endpointHealthSchema } from "../../shared/webhooks/endpoint-health.ts";
import { parkedEndpointSchema } from "../../shared/webhooks/parked-endpoint.ts";
import { subscriptionSchema } from "../../shared/webhooks/subscription.ts";
import { markdownTable } from "../markdown/markdown.ts";

/**
 * Every stored item with the class of its fields: docs/data-map.md. A kind, or a field at the top of an item, without an
 * entry fails a test.
 */

type Kept = "with the books" | "until it is replaced" | "the window" | `${number} ${"minutes" | "hour" | "days"}`;
type Stored = {
  readonly shape: z.ZodMiniType;
  readonly purpose: string;
  /** How long; an item that is kept with the books has no end. */
  readonly kept: Kept;
  /** Attributes whose names are made from what they count. */
  readonly counters?: RegExp;
};
type TableName = keyof typeof tables;
type Kind = LedgerItemKind | AuditItemKind | CacheItemKind | "key";

const BOOKS = "with the books";
const REPLACED = "until it is replaced";
const expiring = { expires_at_s: z.int() };

const stored: { readonly [Name in Kind]: Stored } = {
  key: {
    shape: keyItemSchema,
    purpose: "Admits the requests of a key, and counts them by minute",
    kept: BOOKS,
    counters: /^\w+:\d+$/,
  },
  account: { shape: accountSchema, purpose: "An app: keys, owners, endpoints, limits", kept: BOOKS },
  owner: {
    shape: ownerItemSchema,
    purpose: "The accounts of an owner. Its key is a hash of the e-mail address or group",
    kept: BOOKS,
  },
  person: {
    shape: personItemSchema,
    purpose: "Who has signed in to the console, since when and when last. Its key is a hash of who signed in",
    kept: BOOKS,
  },
  recipient: {
    shape: recipientSchema,
    purpose: "What a person chose to be notified of. Its key is that of the person",
    kept: REPLACED,
  },
  notified: { shape: notifiedSchema, purpose: "When a person was notified of what", kept: REPLACED },
  "price-list": { shape: priceListItemSchema, purpose: "An account's prices, for functions", kept: BOOKS },
  wallet: { shape: walletSchema, purpose: "Balance, queue and counters of an account", kept: BOOKS },
  "key-usage": { shape: keyUsageSchema, purpose: "What the limits of a key count", kept: BOOKS },
  transaction: { shape: transactionSchema, purpose: "An order, its price and its outcome", kept: BOOKS },
  "upstream-reference": {
    shape: upstreamReferenceSchema,
    purpose: "Which order an upstream's reference belongs to",
    kept: BOOKS,
  },
  funding: { shape: ledgerEntrySchema, purpose: "A bank transfer that was credited", kept: BOOKS },
  adjustment: { shape: ledgerEntrySchema, purpose: "A correction by an operator", kept: BOOKS },
  refund: { shape: refundSchema, purpose: "When a transaction was refunded", kept: BOOKS },
  checkpoint: { shape: checkpointSchema, purpose: "Until where a wallet was reconciled", kept: REPLACED },
  "order-sums": { shape: orderSumsSchema, purpose: "What an account's orders cost", kept: REPLACED },
  "order-day": { shape: z.object({ pk: z.string() }), purpose: "The same by day", kept: BOOKS, counters: /\|/ },
  float: { shape: floatSchema, purpose: "Sum of payments to the upstream", kept: REPLACED },
  "float-payment": { shape: floatPaymentSchema, purpose: "A payment to the upstream", kept: BOOKS },
  period: {
    shape: z.union([accountPeriodSchema, servicePeriodSchema]),
    purpose: "A closed month, of an account or of all",
    kept: BOOKS,
  },
  "period-lines": { shape: periodLinesSchema, purpose: "Fingerprints of a month's lines", kept: BOOKS },
  "period-replacement": { shape: periodReplacementSchema, purpose: "That a period was replaced", kept: REPLACED },
  "period-verification": { shape: verificationSchema, purpose: "How far months are verified", kept: REPLACED },
  consent: { shape: consentSchema, purpose: "Evidence of the consent to a check", kept: BOOKS },
  event: { shape: storedEventSchema, purpose: "An upstream event that a person decides about", kept: BOOKS },
  delivery: { shape: deliverySchema, purpose: "A webhook to an endpoint and its attempts", kept: BOOKS },
  parked: { shape: parkedEndpointSchema, purpose: "When an endpoint's webhooks are tried again", kept: REPLACED },
  "endpoint-health": { shape: endpointHealthSchema, purpose: "Whether an endpoint works", kept: REPLACED },
  subscription: { shape: subscriptionSchema, purpose: "The events that an endpoint asked for", kept: REPLACED },
  "phone-retention": { shape: progressSchema, purpose: "How far numbers are masked", kept: REPLACED },
  "reference-key": {
    shape: z.extend(referenceKeySchema, { pk: z.string() }),
    purpose: "Recognises the reference key",
    kept: BOOKS,
  },
  statement: { shape: statementSchema, purpose: "The upstream's statement of a day", kept: BOOKS },
  "statement-rows": { shape: statementRowsSchema, purpose: "Its rows, with hashes of phone numbers", kept: BOOKS },
  "statement-case": { shape: statementCaseSchema, purpose: "A difference and what was decided", kept: BOOKS },
  proposal: { shape: proposalSchema, purpose: "What one person asked for and another decides", kept: BOOKS },
  entry: {
    shape: z.extend(placedEntrySchema, z.pick(linkSchema.def.getter(), { previous: true, hash: true }).shape),
    purpose: "Who changed or saw what, and why",
    kept: BOOKS,
  },
  attestation: { shape: attestationSchema, purpose: "The hash of an entry, seen by `attest-audit`", kept: BOOKS },
  purchases: { shape: z.extend(purchasesSwitch, { pk: z.string() }), purpose: "The purchases switch", kept: REPLACED },
  "purchases-parts": {
    shape: z.extend(partsSchema, { pk: z.string() }),
    purpose: "The networks and kinds that are off",
    kept: REPLACED,
  },
  "upstream-pace": {
    shape: z.extend(upstreamPaceSchema, { pk: z.string() }),
    purpose: "The upstream's limit",
    kept: REPLACED,
  },
  "upstream-balance": { shape: upstreamBalanceSchema, purpose: "Our balance at the upstream", kept: REPLACED },
  catalog: { shape: catalogItem, purpose: "Networks and plans", kept: REPLACED },
  "catalog-candidate": { shape: catalogItem, purpose: "A catalog that was refused", kept: REPLACED },
  "upstream-refusal": { shape: upstreamRefusalSchema, purpose: "Why orders do not get through", kept: REPLACED },
  duplicate: {
    shape: z.extend(duplicateGuardSchema, expiring),
    purpose: "What was bought for whom, as a keyed hash",
    kept: "the window",
  },
  "upstream-lookup": {
    shape: z.extend(lookupRecordSchema, expiring),
    purpose: "When the upstream is asked for an order",
    kept: "90 days",
  },
  replay: { shape: replayItem, purpose: "The sealed result of a check, for replays", kept: "10 minutes" },
  searches: {
    shape: z.object({ pk: z.string(), searches: z.int(), ...expiring }),
    purpose: "A person's searches in a minute. Its key is a hash of who signed in",
    kept: "1 hour",
  },
  resends: {
    shape: z.object({ pk: z.string(), resends: z.int(), ...expiring }),
    purpose: "How often an account's webhooks were sent again in a minute. Its key is a hash of the account's id",
    kept: "1 hour",
  },
  statistics: {
    shape: z.object({ pk: z.string(), ...expiring }),
    purpose: "Ended orders of an hour, by network",
    kept: "90 days",
    counters: /\|/,
  },
  balances: {
    shape: z.extend(dayItem, { version: z.int(), ...expiring }),
    purpose: "An account's balance at the end of a day",
    kept: "400 days",
  },
};

/** What a field says of a person, with the fields of the class. All others say nothing of people. */
const dataClasses = {
  "a customer's phone number": {
    fields: ["phone_number", "description", "phone_masked"],
    protection:
      "masked but for two digits after `phoneRetentionDays` ([default](deployment.md#settings)) by `maskOldPhones` in `shared/reconciliation/phone-retention.ts`; readers see them masked",
  },
  "a keyed hash of personal data": {
    fields: ["fingerprint", "phone_key", "subject", "rows"],
    protection:
      "the key is a secret or in KMS; `phone_key` is removed when the number is masked, `subject` after `consentRetentionDays`; `subjects erase` removes both; `rows` are compressed",
  },
  "a sealed result of a check": {
    fields: ["sealed"],
    protection: "AES-256-GCM; not read after 10 minutes, and deleted within some days of that",
  },
  "a text that people or apps write": {
    fields: [
      "caller_reference",
      "purpose",
      "evidence",
      "why",
      "input",
      "consequence",
      "decided_why",
      "details",
      "problem",
      "attempts",
    ],
    protection:
      "a request is refused that repeats its own number in it; readers see phone numbers masked. `attempts` has how an endpoint's failed answers begin, with runs of ten digits masked, for `phoneRetentionDays`; `purpose` and `evidence` end with `consentRetentionDays`",
  },
  "one of the company's people": {
    fields: [
      "by",
      "caller_arn",
      "person",
      "roles",
      "owner_keys",
      "last_seen_at",
      "source_ip",
      "user_agent",
      "owners",
      "decisions",
      "signed_off",
      "files",
      "taken_by",
      "off",
      "proposed_by",
      "proposer",
      "issuer",
      "decided_by",
      "email",
    ],
    protection: "people with a role see them, and owners those of their account",
  },
  "a secret, or a hash of one": {
    fields: ["endpoints", "first_webhook_secret", "keys", "slack"],
    protection:
      "webhook secrets and the URLs of chats are sealed, API keys are SHA-256 beside their last four characters; neither is ever shown. The URL of an endpoint is stored as it is, and shown without the values of its query. `keys` names who made each",
  },
} as const satisfies Record<string, { readonly fields: readonly string[]; readonly protection: string }>;

/** The names of an item's fields. */
const fieldsOf = (shape: z.ZodMiniType): readonly string[] => {
  if (shape instanceof z.ZodMiniObject) return Object.keys(shape.shape);
  if (shape instanceof z.core.$ZodUnion)
    return shape._zod.def.options.flatMap((option) => (option instanceof z.ZodMiniType ? fieldsOf(option) : []));
  throw new Error("The shape of an item is an object, or one of several");
};

/** The fields that say nothing of a person: ids, amounts, times, states, counters and technical values. */
const plainFields = new Set(
  `
  about account_id account_limits account_status accounts action after amount_kobo asked asked_at at_once_percent
  balance_kobo base_url begun_at body broke_glass by_email by_slack case_id cases checks claim closed closed_at closing closing_kobo compared comparison cost_kobo
  counted created_at day day_kobo day_kobo_near day_orders day_orders_near debit decided_at difference_kobo dropped
  duplicate_window_s empty_checks empty_run_found empty_run_from endpoint endpoints_made entitlements entry_id escalated etag event
  expires_at expires_at_s extent face_kobo facts failed_event_pk failing failure fetched_at finding
  fingerprints finished_before from generation gzip hash hours hours_left in_turn key_id key_limits kind kinds
  limit_until lines list_key listed_at low_balance_threshold_kobo low_since measured_at mode month month_kobo
  month_kobo_near month_orders month_orders_near months name network next_at next_attempt_at next_run
  occurrence oldest_waiting open open_cases open_costs open_keys open_orders opening_kobo operation order_limits payment_id
  payments payments_kobo per_minute permissions pk placed_at position previous price_list price_rule proposal_id purchases
  queue_front queue_front_at queue_gaps queue_head queue_tail queue_until queued queued_orders quota_day
  quota_used_advanced quota_used_identity quota_used_retrieve quota_used_vtu read_at reason received_at reconciled_at
  reference refusals refused_at repeat reported_by request_id resends resolved_by rest_due_at restricted restricted_at revision rules says sealed_to
  searches sent sent_at sequence since state status subject_key success_event_pk taken_at time_zone to token
  transaction_pk turn_until type unannounced under_way unknown_kobo unrecognized_until unsent up_to updated_at
  upstream_amount_kobo upstream_reference usage_day verifying version was_empty webhook_id whitelist
  write_token
  `
    .trim()
    .split(/\s+/),
);

/** What is wrong with this map: a field without a class, or a class that names no field. */
export const mistakesOfMap = (): readonly string[] => {
  const all = new Set(Object.values(stored).flatMap(({ shape }) => fieldsOf(shape)));
  const classed = Object.values(dataClasses).flatMap(({ fields }) => [...fields]);
  const named = [...classed, ...plainFields];
  return [
    ...[...all].filter((field) => !named.includes(field)).map((field) => `${field}: say what it says of a person`),
    ...named.filter((field) => !all.has(field)).map((field) => `${field}: no item has it`),
    ...classed.filter((field) => plainFields.has(field)).map((field) => `${field}: it is in two classes`),
  ];
};

const kindsOf: { readonly [Table in TableName]: readonly Kind[] } = {
  access: ["key"],
  ledger: itemKinds,
  audit: auditItemKinds,
  cache: cacheItemKinds,
};
const isTable = (name: string): name is TableName => name in tables;
const tableNames = Object.keys(tables).filter(isTable);

/** The attributes of a stored item that this map does not have. */
export const unmappedAttributes = (item: Readonly<Record<string, unknown>>, table: TableName): readonly string[] => {
  const pk = String(item.pk);
  const kind = table === "access" ? "key" : kindsOf[table].find((each) => pk === each || pk.startsWith(`${each}#`));
  if (kind === undefined) return [`${table}: an item of no kind`];
  const { shape, counters } = stored[kind];
  const known = fieldsOf(shape);
  return Object.keys(item)
    .filter((name) => !known.includes(name) && !counters?.test(name))
    .map((name) => `${kind}.${name}`);
};

const itemsOf = <Own extends Kind>(table: TableName, kinds: readonly Own[], patternOf: (kind: Own) => string) =>
  kinds.map((kind) => ({
    ...stored[kind],
    table,
    kind,
    pkOf: (id: string): string => patternOf(kind).replace("*", id),
  }));

/** Each kind of item of each table: its shape, and the key of one of them. */
export const storedItems: readonly (Stored & {
  readonly table: TableName;
  readonly kind: Kind;
  readonly pkOf: (id: string) => string;
})[] = [
  ...itemsOf("access", ["key"], () => "*"),
  ...itemsOf("ledger", itemKinds, keyPatternOf),
  ...itemsOf("audit", auditItemKinds, auditKeyPattern),
  ...itemsOf("cache", cacheItemKinds, cacheKeyPattern),
];

/** The functions that may do one of these things with items of a kind; admission reads a key as it counts. */
const functionsThat = (
  actions: readonly ("reads" | "readsInPart" | "Query" | "PutItem" | "UpdateItem")[],
  table: TableName,
  kind: Kind,
): readonly string[] =>
  functionNames.filter((name) => {
    const { readsInPart, ...grants } = specOf(name).tables?.[table] ?? {};
    const all = { ...grants, readsInPart: readsInPart?.kinds };
    const kinds: readonly string[] = actions.flatMap((action) => [...(all[action] ?? [])]);
    return kinds.includes(kind) || (kind === "key" && (all.UpdateItem ?? []).some((each) => each === "rate-counters"));
  });
const quoted = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(", ");

/** Each kind of item, with the classes of its fields. */
export const itemTable = (): string =>
  markdownTable([
    ["item", "table", "purpose", "fields about people", "kept", "written by", "read by"],
    ...tableNames.flatMap((table) =>
      kindsOf[table].map((kind) => {
        const { shape, purpose, kept } = stored[kind];
        const fields = new Set(fieldsOf(shape));
        const personal = Object.values(dataClasses).flatMap((each) => each.fields.filter((field) => fields.has(field)));
        const writers = functionsThat(["PutItem", "UpdateItem"], table, kind);
        const readers = functionsThat(["reads", "readsInPart", "Query"], table, kind);
        return [
          ...[`\`${kind}\``, table, purpose, personal.map((field) => `\`${field}\``).join(", "), kept],
          ...[quoted(writers) || "commands of an administrator", quoted(readers)],
        ];
      }),
    ),
  ]);

/** Each class of data, with its fields. */
export const classTable = (): string =>
  markdownTable([
    ["data about people", "fields", "protection"],
    ...Object.entries(dataClasses).map(([name, { fields, protection }]) => [
      ...[name, fields.map((field) => `\`${field}\``).join(", "), protection],
    ]),
  ]);

/** What `subjects erase` does with each field. */
export const erasureTable = (): string =>
  markdownTable([
    ["field", "what happens", "because"],
    ...erasure.map(({ field, result, because }) => [field, result, because]),
  ]);
