import type { OrderAdvice } from "../contract/actions/transactions.ts";
import { nairaFromKobo } from "../contract/money.ts";
import { isIdentityCheck, isQueuedOrder, referenceOf, type Transaction } from "../ledger/transaction.ts";

/** The codes by which customers of all networks see a balance, by the regulator's list. */
const BALANCE_CODES = { airtime: "*310#", data: "*323#" } as const;

const TRY_AGAIN = "It costs nothing. They can try again.";
const NO_SECOND_ORDER = "Do not place it again under another reference: the customer may get it twice.";

/** An order in plain words, for who is asked about it: what is known, how long to wait, what to say and what not to do. */
export const adviceOn = (order: Transaction, isForOwner: boolean): readonly OrderAdvice[] => {
  if (order.mode === "test") {
    return [{ about: "happened", text: "A test order: no wallet was debited, and nothing was sent to a network." }];
  }
  const advice = isIdentityCheck(order) ? checkAdvice(order) : purchaseAdvice(order);
  return advice.filter(({ about }) => !isForOwner || !OPERATORS.includes(about));
};

/** Only operators speak to the upstream and resolve orders. */
const OPERATORS: readonly OrderAdvice["about"][] = ["upstream", "resolve"];

const purchaseAdvice = (order: Transaction): readonly OrderAdvice[] => {
  if (order.status === "success") return deliveredAdvice(order);
  if (order.status === "failed") return failedAdvice(order);
  return isQueuedOrder(order) ? queuedAdvice(order) : sentAdvice(order);
};

const deliveredAdvice = (order: Transaction): readonly OrderAdvice[] => [
  { about: "happened", text: "The upstream says that it was delivered. The wallet paid for it." },
  {
    about: "customer",
    text: `${order.description} was delivered. Dial ${BALANCE_CODES[order.type === "data" ? "data" : "airtime"]} to see the balance.`,
  },
  { about: "avoid", text: NO_SECOND_ORDER },
  { about: "upstream", text: `If the customer has nothing: ask for the proof of delivery of ${named(order)}.` },
];

const failedAdvice = (order: Transaction): readonly OrderAdvice[] => [
  {
    about: "happened",
    text:
      order.debit === undefined
        ? "It was not delivered, and the amount is back in the wallet."
        : "It was never sent, and the wallet was not debited.",
  },
  { about: "customer", text: `${order.description} was not delivered. ${TRY_AGAIN}` },
  ...(order.debit === undefined
    ? [
        {
          about: "upstream" as const,
          text: `If the customer has it nevertheless: ask what was delivered for ${named(order)}. An adjustment then corrects the wallet.`,
        },
      ]
    : []),
];

const queuedAdvice = (order: Transaction): readonly OrderAdvice[] => [
  {
    about: "happened",
    text: "The wallet is debited. It is not sent yet, because the upstream takes no more orders now.",
  },
  { about: "wait", text: "It is sent by itself, or refunded." },
  { about: "customer", text: `${order.description} is under way and will arrive, or cost nothing.` },
  { about: "avoid", text: NO_SECOND_ORDER },
  { about: "resolve", text: "It may be resolved as failed: it was not sent, so nothing is delivered." },
];

const sentAdvice = (order: Transaction): readonly OrderAdvice[] => [
  { about: "happened", text: "The wallet is debited and the order was sent. The upstream has not said how it ended." },
  { about: "unknown", text: "Whether it was delivered." },
  { about: "wait", text: "Most orders end by themselves before then." },
  { about: "customer", text: `${order.description} is being processed. It will arrive, or cost nothing.` },
  { about: "avoid", text: `${NO_SECOND_ORDER} Do not refund it by an adjustment: the upstream's word may still come.` },
  { about: "upstream", text: `Ask how ${named(order)} ended.` },
  {
    about: "resolve",
    text: "Only after the upstream has said it: success keeps the debit, failed gives the amount back. Both are final.",
  },
];

/** The person checked is no customer of ours: there is nobody to inform. */
const checkAdvice = ({ status, failure, debit }: Transaction): readonly OrderAdvice[] => {
  if (status === "success")
    return [{ about: "happened", text: "A record was found and returned. The wallet paid for it." }];
  if (status === "processing") {
    return [
      { about: "happened", text: "The wallet is debited. The check has no result yet." },
      { about: "wait", text: "Without a result it is refunded by itself." },
      { about: "avoid", text: "Do not resolve it before that: a result may be on its way." },
    ];
  }
  if (debit !== undefined) {
    return [{ about: "happened", text: "It was never sent, and the wallet was not debited." }];
  }
  const reason = failure?.code === "record_not_found" ? "No record was found" : "There was no result";
  return [{ about: "happened", text: `${reason}, and the amount is back in the wallet.` }];
};

/** As the upstream can find it. */
const named = (order: Transaction): string => {
  const { upstream_reference, phone_number, created_at, amount_kobo, face_kobo } = order;
  const reference = upstream_reference ?? `our reference ${referenceOf(order)}`;
  const amount = nairaFromKobo(face_kobo ?? amount_kobo);
  return `${reference} (${phone_number ?? "no number"}, ${amount} NGN, ${created_at})`;
};
