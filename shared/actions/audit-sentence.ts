import type { Action } from "../contract/actions/action.ts";
import { type ActionName, actions } from "../contract/actions/actions.ts";
import type { AuditKind } from "../contract/actions/audit.ts";
import { counted } from "../contract/values/counted.ts";
import { moneyText } from "../contract/values/money.ts";
import { type AuditEntry, actorName, detailsText } from "../ledger/audit.ts";

/** The entry's details by name as text, and what the account of the entry is called. */
type Facts = { readonly account: string; readonly of: (detail: string) => string };
/** What a person did, after their name. */
type Sentence = (entry: Facts) => string;

/** Actions that write an entry. */
type Recorded = {
  [Name in ActionName]: (typeof actions)[Name] extends
    | { readonly kind: "change" }
    | { readonly personal: true }
    | { readonly audited: true }
    ? Name
    : never;
}[ActionName];

/** `NGN 50,000.00`, without the sign of what was taken. */
const money = (amount: string): string => moneyText(Math.abs(Number(amount)));
/** `1 order`, `2 orders`. */
const number = (count: string, one: string): string => counted(Number(count), one);
/** What was recorded as `vtu,identity` or `vtu identity=1000`, as a list. */
const listed = (text: string): string => text.split(/[ ,]+/).join(", ");
const isTaken = (amount: string): boolean => amount.startsWith("-");
/** ` (MTN)`; nothing if the entry has no such detail. */
const inBrackets = (text: string): string => (text === "" ? "" : ` (${text})`);
const keyOf = ({ of }: Facts): string =>
  of("name") === "" ? `the key ${of("key_id")}` : `the key "${of("name")}" (${of("key_id")})`;

const endpointOf = ({ account, of }: Facts): string => `webhook endpoint ${of("endpoint")} of ${account}`;

/** For an owner only the action's name. */
const proposedIn = ({ of }: Facts): string => of("consequence") || of("action");

const sentences: Readonly<Record<Recorded, Sentence>> = {
  "notifications choose": ({ of }) =>
    `chose to be notified by e-mail of ${of("email") || "nothing"}, and by a chat${inBrackets(of("slack_host"))} of ${of("slack") || "nothing"}`,
  "notifications stop": ({ of }) => `ended the notifications of ${of("person")}`,
  "accounts create": ({ of }) => `created the account ${of("name")}`,
  "accounts restrict": ({ account }) => `restricted ${account}: every request of it is refused`,
  "accounts unrestrict": ({ account }) => `ended the restriction of ${account}`,
  "accounts close": ({ account }) => `closed ${account}: its keys are revoked, and nothing is booked any more`,
  "accounts reopen": ({ account }) => `reopened ${account}, which is restricted`,
  "accounts entitle": ({ account, of }) => `set what ${account} may do: ${listed(of("entitlements"))}`,
  "accounts duplicates": ({ account, of }) =>
    of("window_s") === "0"
      ? `ended the window for duplicates of ${account}`
      : `set the window for duplicates of ${account} to ${of("window_s")} s`,
  "accounts limits": ({ account, of }) => `set the limits of ${account}: ${listed(of("limits"))}`,
  "accounts owners": ({ account, of }) =>
    `set the owners of ${account}: ${of("owners") || "nobody"}${of("removed") && `; removed: ${of("removed")}`}`,
  "keys create": (facts) =>
    `created ${keyOf(facts)} of ${facts.account}, ${facts.of("mode")}, for ${listed(facts.of("permissions"))}`,
  "keys rotate": (facts) => `replaced the key ${facts.of("instead_of")} of ${facts.account} by ${keyOf(facts)}`,
  "keys limits": (facts) => `set the limits of ${keyOf(facts)} of ${facts.account}: ${listed(facts.of("limits"))}`,
  "keys revoke": (facts) => `revoked ${keyOf(facts)} of ${facts.account}`,
  "ips allow": ({ account, of }) => `allowed ${account} to call from ${listed(of("ranges"))}`,
  "ips disallow": ({ account, of }) => `took ${listed(of("ranges"))} off the whitelist of ${account}`,
  "wallet threshold": ({ account, of }) =>
    of("amount") === "0"
      ? `removed the low-balance threshold of ${account}`
      : `set the low-balance threshold of ${account} to ${money(of("amount"))}`,
  "wallet fund": ({ account, of }) =>
    `funded the wallet of ${account} with ${money(of("amount"))} (bank reference ${of("id")})`,
  "wallet adjust": ({ account, of }) =>
    isTaken(of("amount"))
      ? `took ${money(of("amount"))} from the wallet of ${account} (${of("id")})`
      : `added ${money(of("amount"))} to the wallet of ${account} (${of("id")})`,
  "wallet reverse": ({ account, of }) =>
    `reversed the funding ${of("id")} of ${account}: ${money(of("amount"))} were taken from the wallet`,
  "wallet statement": ({ account }) => `looked at the statement of ${account}`,
  "periods close": ({ of }) => `closed the month ${of("month")}`,
  "periods lines": ({ account, of }) => `looked at the lines of ${of("month")} of ${account}`,
  "prices set": ({ account, of }) => `set a price of ${account}: ${of("rule")}`,
  "prices remove": ({ account, of }) => `removed the price rule ${of("rule")} of ${account}`,
  "float fund": ({ of }) =>
    isTaken(of("amount"))
      ? `took ${money(of("amount"))} from the payments to the upstream (${of("id")})`
      : `booked a payment of ${money(of("amount"))} to the upstream (bank reference ${of("id")})`,
  "transactions list": ({ account }) => `looked at the orders of ${account}`,
  "transactions show": ({ of }) => `looked at the order ${of("reference")}`,
  "transactions open": () => "looked at the open orders",
  "transactions waiting": () => "looked at the queued orders",
  "transactions ask": ({ of }) => `had the upstream asked for the order ${of("reference")}`,
  "transactions take": ({ of }) => `is on the order ${of("reference")}`,
  "transactions note": ({ of }) => `wrote a note on the order ${of("reference")}`,
  "transactions refund": ({ account, of }) =>
    `refunded the order ${of("reference")} of ${account} with ${money(of("amount"))}`,
  "transactions resolve": ({ account, of }) => `resolved the order ${of("reference")} of ${account} as ${of("status")}`,
  search: ({ of }) => `searched for ${of("text")}`,
  "consents list": ({ account }) => `looked at the consents of ${account}`,
  "consents show": ({ of }) => `looked at the consent of ${of("reference")}`,
  "consents export": ({ account, of }) =>
    of("count") === ""
      ? `began to export the consents of ${account}`
      : `exported ${number(of("count"), "consent")} of ${account}`,
  "subjects report": ({ of }) => `asked what is kept of a person, by ${of("kind")}`,
  "subjects erase": ({ of }) =>
    of("until") === ""
      ? `began to erase a person, by ${of("kind")}`
      : `erased a person, by ${of("kind")}: ${number(of("checks"), "check")} and ${number(of("orders"), "order")}`,
  "webhook add": (facts) => `added ${endpointOf(facts)}, ${facts.of("url")}, for ${listed(facts.of("events"))}`,
  "webhook set": (facts) => `set ${endpointOf(facts)} to ${facts.of("url")}, for ${listed(facts.of("events"))}`,
  "webhook events": (facts) => `set the events of ${endpointOf(facts)}: ${listed(facts.of("events"))}`,
  "webhook enable": (facts) => `enabled ${endpointOf(facts)}`,
  "webhook disable": (facts) => `disabled ${endpointOf(facts)}`,
  "webhook test": (facts) => `sent a test event to ${endpointOf(facts)}, ${facts.of("url")}`,
  "webhook secret rotate": (facts) => `rotated the signing secret of ${endpointOf(facts)}`,
  "webhook remove": (facts) => `removed ${endpointOf(facts)}, ${facts.of("url")}`,
  "deliveries show": ({ of }) => `looked at the webhooks of ${of("reference")}`,
  "deliveries replay": ({ of }) => `sent the webhook of ${of("reference")} again`,
  "deliveries recover": ({ account, of }) =>
    `sent ${number(of("webhooks"), "failed webhook")} of ${account} since ${of("from")} again`,
  "events list": () => "looked at the unmatched events",
  "events candidates": ({ of }) => `looked at the orders that ${of("event")} may be about`,
  "events match": ({ of }) => `settled the order ${of("reference")} as ${of("says")}, by the event ${of("event")}`,
  "events discard": ({ of }) => `discarded the event ${of("event")}: ${of("says")}`,
  "dead-letters redrive": ({ of }) => `sent the messages given up of ${of("queue")} again`,
  "catalog accept": () => "accepted the refused catalog",
  "purchases off": ({ of }) => `switched purchases off${inBrackets(of("part"))}`,
  "purchases on": ({ of }) => `switched purchases on${inBrackets(of("part"))}`,
  "proposals approve": (facts) => `approved what was proposed: ${proposedIn(facts)}`,
  "proposals reject": (facts) => `rejected what was proposed: ${proposedIn(facts)}`,
  "proposals break-glass": (facts) => `carried out alone what was proposed: ${proposedIn(facts)}`,
  announce: ({ of }) => `had the webhooks from ${of("from")} to ${of("to")} sent again`,
  "upstream probe": () => "probed the upstream with a test key",
  "secrets set": ({ of }) => `set the secret ${of("name")}`,
  "secrets rotate": ({ of }) => `rotated the secret ${of("name")}`,
  "reconciliation files begin": ({ of }) => `began to import the upstream's statement of ${of("day")}`,
  "reconciliation files append": ({ of }) =>
    `imported ${number(of("rows"), "row")} of the upstream's statement of ${of("day")}`,
  "reconciliation files remove": ({ of }) => `took a file out of the upstream's statement of ${of("day")}`,
  "reconciliation cases put": ({ of }) => `compared the upstream's statement of ${of("day")} with the books`,
  "reconciliation cases decide": ({ of }) => `decided the case ${of("case")} of ${of("day")}: ${of("decision")}`,
  "reconciliation statements sign": ({ of }) => `signed the upstream's statement of ${of("day")} off`,
  "reconciliation statements export": ({ of }) =>
    `${of("count") === "" ? "began to export" : "exported"} the upstream's statement of ${of("day")}`,
};

/** Commands that are no action, and what an action proposes instead of doing it. */
const commandSentences: Readonly<Record<string, Sentence>> = {
  "catalog refresh": () => "refreshed the catalog",
  "keys reconcile": ({ account, of }) => `made the key ${of("key_id")} of ${account} agree with the access table`,
  "proposals propose": (facts) => `proposed: ${proposedIn(facts)}`,
  "ledger carry-over": ({ of }) => `completed the restored ledger from ${of("from")}`,
};

const isRecorded = (action: string): action is Recorded => Object.hasOwn(sentences, action);
const sentenceOf = (action: string): Sentence | undefined =>
  isRecorded(action) ? sentences[action] : commandSentences[action];

/** An entry in words, for people: `ada@example.com revoked the key "Checkout" (key_01) of shop`. */
export const auditSentence = (entry: AuditEntry, account: string): string => {
  const { action, details } = entry;
  const of = (detail: string): string => String(details[detail] ?? "");
  const actor = actorName(entry);
  const sentence = sentenceOf(action);
  // An action of another release.
  if (sentence === undefined) return `${actor}: ${action}${inBrackets(detailsText(details))}`;
  return `${actor} ${sentence({ account, of })}`;
};

/** By the first word of an action's name; what is not here is about the service itself. */
const kindsBySubject: Readonly<Record<string, AuditKind>> = {
  ...{
    proposals: "money",
    wallet: "money",
    float: "money",
    prices: "money",
    periods: "money",
    reconciliation: "money",
  },
  ...{ transactions: "orders", events: "orders", consents: "orders" },
  accounts: "accounts",
  ...{ keys: "keys", ips: "keys" },
  ...{ webhook: "webhooks", deliveries: "webhooks", announce: "webhooks" },
};

export const auditKindOf = (action: string): AuditKind => {
  const known: Action | undefined = isRecorded(action) ? actions[action] : undefined;
  if (known?.kind === "read") return "seen";
  return kindsBySubject[action.split(" ")[0] ?? ""] ?? "service";
};
