import type { OrderAdvice } from "../contract/actions/transactions.ts";
import type { TransactionStatus } from "../contract/transaction.ts";
import { koboMoneyText } from "../contract/values/money.ts";
import { isFinalStatus, isIdentityCheck, referenceOf, sentAt, type Transaction } from "../ledger/transaction.ts";
import { stateOf, type TransactionState } from "../ledger/transaction-state.ts";

/** Sentences by what they are about. A name in braces is filled in: the fields of `valuesOf`. */
type Sentences = {
  readonly [About in OrderAdvice["about"]]?: string;
} & {
  /** Replaces `wait` after the time until which to wait. */
  readonly overdue?: string;
};

const IS_BACK = "The amount is back in the wallet.";
const NOT_DEBITED = "It was never sent, and the wallet was not debited.";
const NO_SECOND_ORDER = "Do not place it again under another reference: the customer may get it twice.";
const ASK_FOR_FAILED =
  "If the customer has it nevertheless: ask what was delivered for {named}. An adjustment then corrects the wallet.";

const notDelivered = (happened: string, next = "You can try again."): Sentences => ({
  happened: `${happened} ${IS_BACK}`,
  customer: `{order} was not delivered. It costs nothing. ${next} Reference {reference}.`,
  upstream: ASK_FOR_FAILED,
});

const delivered: Sentences = {
  happened: "The upstream says that it was delivered. The wallet paid for it.",
  customer: "{order} was delivered. Dial {code} to see the balance. Reference {reference}.",
  avoid: NO_SECOND_ORDER,
  upstream:
    "If the customer has nothing: ask for the proof of delivery of {named}. Without one, an operator refunds it here.",
};

const refunded: Sentences = {
  happened: `It was reported as successful, and an operator refunded it. ${IS_BACK}`,
  customer: "{order} was refunded. It costs nothing. Reference {reference}.",
};

const paidAgain: Sentences = {
  ...delivered,
  happened: "It was refunded. It was delivered after all: an adjustment has taken its amount again.",
  upstream:
    "If the customer has nothing: ask for the proof of delivery of {named}. Without one, an adjustment gives it back.",
};

/** The upstream has reported the other final status since, and no person has decided which is true. */
const contradicted = ({ happened = "" }: Sentences): Sentences => ({
  happened: `${happened} The upstream has reported the opposite since.`,
  unknown: "Which of the two is true.",
  customer: "{order} is being looked into. Reference {reference}.",
  avoid: NO_SECOND_ORDER,
  upstream: 'Ask which of the two is true of {named}, then decide about the event: "Unmatched events".',
});

const waiting: Sentences = {
  happened:
    "The wallet is debited. It is not sent yet: the upstream takes no more orders now, the account is restricted, or purchases are off.",
  wait: "It is sent by itself, or refunded.",
  overdue: "That time is over: the next run refunds it, once purchases are on.",
  customer: "{order} is under way. It will arrive, or cost nothing. Reference {reference}.",
  avoid: NO_SECOND_ORDER,
  resolve: "It may be resolved as failed: it was not sent, so nothing is delivered.",
};

const sent: Sentences = {
  happened: "The wallet is debited and the order was sent. The upstream has not said how it ended.",
  unknown: "Whether it was delivered.",
  wait: "Most orders end by themselves before then. After that an operator finds out how it ended.",
  overdue: "That time is over: an operator has to find out how it ended.",
  customer: "{order} is being processed. It will arrive, or cost nothing. Reference {reference}.",
  avoid: `${NO_SECOND_ORDER} Do not refund it by an adjustment: the upstream may still report that it was delivered.`,
  upstream: "Ask how {named} ended.",
  resolve:
    "Only after the upstream has said how it ended: success keeps the debit, failed gives the amount back. Both are final.",
};

/** In a copy of the ledger that it waits in nothing is known of it since the copy was made. */
const waitingElsewhere: Sentences = {
  ...sent,
  happened: "The wallet is debited. It waited in the ledger that was restored, and may have been sent since.",
  wait: "It is neither sent again nor refunded by itself: an operator has to find out how it ended.",
};

/** What people read about each state. A check has no `customer`: the person checked is not a customer of the app. */
const states: Readonly<Record<`purchase ${TransactionState}` | `check ${TransactionStatus}`, Sentences>> = {
  "purchase sent": sent,
  "purchase claimed": { ...sent, happened: `It waited, and its turn came. ${sent.happened}` },
  "purchase queued": waiting,
  "purchase set_aside": {
    ...waiting,
    happened:
      "The wallet is debited. The upstream refused this order for now, such as for a limit of its phone number.",
  },
  "purchase success": delivered,
  "purchase failed": notDelivered("It was not delivered."),
  "check processing": {
    happened: "The wallet is debited. The check has no result yet.",
    wait: "Without a result it is refunded by itself.",
    avoid: "Do not resolve it before that: a result may be on its way.",
  },
  "check success": { happened: "A record was found and returned. The wallet paid for it." },
  "check failed": { happened: `There was no result. ${IS_BACK}` },
};

/** Where the cause of a state says more. It is a failure's cause or code, `operator`, or why there was no debit. */
const causes: Readonly<Partial<Record<string, Sentences>>> = {
  "purchase success operator": {
    ...delivered,
    happened: "An operator resolved it as delivered. The wallet paid for it.",
  },
  "purchase failed operator": notDelivered("An operator resolved it as failed."),
  "purchase failed validation_failed": notDelivered(
    "The upstream refused {fields} of the order.",
    "Please check {fields}, and try again.",
  ),
  "purchase failed plan_unavailable": notDelivered("The plan is no longer sold.", "You can choose another plan."),
  "purchase failed provider_unavailable": notDelivered(
    "It waited for too long, and was never sent.",
    "You can try again later.",
  ),
  "purchase failed upstream_changed": notDelivered(
    "It was never sent: the service got another upstream while it waited.",
  ),
  "purchase failed void": {
    happened: NOT_DEBITED,
    customer: "{order} was not ordered. It costs nothing. You can try again. Reference {reference}.",
  },
  "purchase failed cancelled": {
    happened: `The app cancelled it before it was placed. ${NOT_DEBITED}`,
    customer: "{order} was cancelled. It costs nothing. Reference {reference}.",
  },
  "check failed record_not_found": { happened: `No record was found. ${IS_BACK}` },
  "check failed validation_failed": { happened: `The upstream refused {fields} of the check. ${IS_BACK}` },
  "check failed provider_timeout": { happened: `The upstream did not answer in time. ${IS_BACK}` },
  "check failed operator": { happened: `An operator resolved it as failed. ${IS_BACK}` },
  "check failed void": { happened: NOT_DEBITED },
  "check failed cancelled": { happened: `The app cancelled it before it was placed. ${NOT_DEBITED}` },
};

const TEST: Sentences = { happened: "A test order: no wallet was debited, and nothing was sent to a network." };

/** Only operators speak to the upstream and resolve orders. */
const OPERATORS: readonly OrderAdvice["about"][] = ["upstream", "resolve"];

/** The order in which advice is read. */
const ABOUT: readonly OrderAdvice["about"][] = [
  ...(["happened", "unknown", "wait", "customer", "avoid"] as const),
  ...OPERATORS,
];

/** What the order itself does not have. */
type AdviceFacts = {
  readonly isForOwner: boolean;
  /** An operator has refunded it, although it was reported as successful. */
  readonly isRefunded: boolean;
  /** An operator has taken its amount again, because it was delivered. */
  readonly isPaidAgain: boolean;
  /** An event with the other final status waits for a decision. */
  readonly isContradicted: boolean;
  /** The time until which to wait is over. */
  readonly isOverdue: boolean;
  /** It waits in the ledger of which this one is a restored copy. */
  readonly isOfAnotherLedger: boolean;
  /** It is sent with our reference. */
  readonly carriesOurs: boolean;
};

/**
 * An order in plain words, for the person who is asked about it: what is known, how long to wait, what to say and what
 * not to do.
 */
export const adviceOn = (order: Transaction, facts: AdviceFacts): readonly OrderAdvice[] => {
  const { isForOwner, isOverdue, carriesOurs } = facts;
  const { overdue, ...known } = sentencesFor(order, facts);
  const sentences: Sentences = isOverdue && overdue !== undefined ? { ...known, wait: overdue } : known;
  const values = valuesOf(order, carriesOurs);
  return ABOUT.filter((about) => !isForOwner || !OPERATORS.includes(about)).flatMap((about) => {
    const text = sentences[about];
    return text === undefined ? [] : [{ about, text: text.replaceAll(/\{(\w+)\}/g, (_, name) => values[name] ?? "") }];
  });
};

const sentencesFor = (
  order: Transaction,
  { isRefunded, isPaidAgain, isContradicted, isOfAnotherLedger }: AdviceFacts,
): Sentences => {
  if (isOfAnotherLedger) return waitingElsewhere;
  if (isPaidAgain && !isIdentityCheck(order)) return paidAgain;
  if (isRefunded) return refundedSentences(order);
  const known = sentencesOn(order);
  // In a restored ledger an order may be open again.
  return isContradicted && isFinalStatus(order.status) && !isIdentityCheck(order) ? contradicted(known) : known;
};

const refundedSentences = (order: Transaction): Sentences =>
  isIdentityCheck(order) ? { happened: refunded.happened } : refunded;

const sentencesOn = (order: Transaction): Sentences => {
  if (order.mode === "test") return TEST;
  const situation = isIdentityCheck(order)
    ? (`check ${order.status}` as const)
    : (`purchase ${stateOf(order)}` as const);
  const cause = order.debit ?? order.resolved_by ?? order.failure?.cause ?? order.failure?.code ?? "";
  return causes[`${situation} ${cause}`] ?? states[situation];
};

/** Codes that customers of all networks dial to see a balance, by the regulator's list. */
const BALANCE_CODES = { airtime: "*310#", data: "*323#" } as const;

const valuesOf = (order: Transaction, carriesOurs: boolean): Readonly<Record<string, string>> => ({
  order: order.description,
  /** The customer knows the app's own. */
  reference: order.caller_reference ?? referenceOf(order),
  code: BALANCE_CODES[order.type === "data" ? "data" : "airtime"],
  fields: order.failure?.fields?.map((field) => field.replaceAll("_", " ")).join(" and ") ?? "a field",
  named: named(order, carriesOurs),
});

/** As the upstream can find it. */
const named = (order: Transaction, carriesOurs: boolean): string => {
  const { upstream_reference, phone_number, amount_kobo, face_kobo } = order;
  const ours = carriesOurs ? `our reference ${referenceOf(order)}` : "the order without our reference";
  const reference = upstream_reference ?? ours;
  const amount = koboMoneyText(face_kobo ?? amount_kobo);
  const sent = sentAt(order).slice(0, "2026-11-21T09:30:00".length).replace("T", " ");
  return `${reference} (${phone_number ?? "no number"}, ${amount}, ${sent} UTC)`;
};
