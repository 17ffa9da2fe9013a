import { isOfAllAccounts, type NotificationKind, notificationTitles } from "../contract/notification-kinds.ts";
import type { Role } from "../contract/roles.ts";
import { dateIn } from "../contract/values/time-zone.ts";
import type { Finding } from "./findings.ts";

/** What to do, as a person who works on all accounts, and as an owner. */
const advice: Readonly<Record<NotificationKind, { readonly ofAll: string; readonly own: string }>> = {
  "wallet.low": {
    ofAll: "Tell the account's owner, or credit a payment that has arrived.",
    own: "Pay in before the balance is used up. An order that costs more than the balance is refused, and charges nothing.",
  },
  "endpoint.down": {
    ofAll: 'Tell the account\'s owner: "Webhook endpoint down" in the runbook.',
    own: "Repair the endpoint, then send a test event on the page. Orders are not affected: your app can look them up.",
  },
  "order.stuck": {
    ofAll: 'Ask the upstream, then resolve them: "Stuck purchase" in the runbook.',
    own: "Do not buy again and do not pay the customer back: each order ends as success or failed, and a failed one is refunded to the wallet.",
  },
  "statement.ready": {
    ofAll: "Compare it with the bank, and give it to those who keep the books.",
    own: "Compare it with your own records.",
  },
};

/** What a message lists of each part; the rest is counted. */
const LISTED_MAX = 20;

export type Message = { readonly subject: string; readonly text: string };

/**
 * `due`: what the message is sent for. `stillOpen`: what the recipient was notified of before and is still open. `beyond`:
 * how much more is wrong than people are notified of at a time.
 */
export type MessageFindings = {
  readonly due: readonly Finding[];
  readonly stillOpen: readonly Finding[];
  readonly beyond: number;
};

/** One message about all that is due, by kind, and about what is still open. */
export const notificationMessage = (
  { stage, consoleUrl, timeZone }: { readonly stage: string; readonly consoleUrl: string; readonly timeZone: string },
  { roles, until }: { readonly roles: readonly Role[]; readonly until: string },
  { due, stillOpen, beyond }: MessageFindings,
): Message => {
  const list = (findings: readonly Finding[]): readonly string[] => {
    const rest = findings.length - LISTED_MAX;
    return [
      ...findings.slice(0, LISTED_MAX).map(({ text, path }) => `${text}\n${consoleUrl}${path}`),
      ...(rest > 0 ? [`${rest} more are in the console.`] : []),
    ];
  };
  const kinds = Map.groupBy(due, ({ kind }) => kind);
  const [first, ...others] = [...kinds.keys()].map((kind) => notificationTitles[kind]);
  return {
    subject: `${stage}: ${first}${others.length === 0 ? "" : ` and ${others.length} more`}`,
    text: [
      ...[...kinds].flatMap(([kind, findings]) => [
        ...list(findings),
        `What to do: ${advice[kind][isOfAllAccounts(kind, roles) ? "ofAll" : "own"]}`,
      ]),
      // By kind: many of one kind must not hide another, whose reminder begins anew with this message.
      ...(stillOpen.length === 0 ? [] : ["Still open since earlier messages:"]),
      ...[...Map.groupBy(stillOpen, ({ kind }) => kind).values()].flatMap(list),
      ...(beyond === 0 ? [] : [`Beside these, ${beyond} are in the console alone: there are too many for messages.`]),
      `You chose this message in the console. Choose others or none at ${consoleUrl}/notifications\nMessages end on ${dateIn(Date.parse(until), timeZone)}, unless you sign in to the console before.`,
    ].join("\n\n"),
  };
};
