import type { NotificationKind } from "../contract/notification-kinds.ts";
import { DAY_MS, HOUR_MS } from "../contract/values/durations.ts";
import type { OnUnreadable } from "../ledger/get-item.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { putIf } from "../ledger/put-if.ts";
import { notifiedPk, personIdOf } from "../ledger/schema.ts";
import { type Deadline, deadlineIn } from "../platform/deadline.ts";
import { errorFields, type LogFields, log } from "../platform/log.ts";
import { mapInOrder } from "../platform/map-in-order.ts";
import { fromMovingStart } from "../platform/moving-start.ts";
import type { Secret } from "../platform/secrets.ts";
import { isoTime, minuteOf } from "../platform/time.ts";
import { CHECK_ACCOUNTS_MS_MAX, RUN_RESERVE_MS } from "../platform/time-budgets.ts";
import type { Post } from "../webhooks/post-webhook.ts";
import { type Finding, type Findings, findFindings, type Wanted } from "./findings.ts";
import { type MailSender, mailSubscriptions, publishMail } from "./mail-topic.ts";
import { type Message, notificationMessage } from "./message.ts";
import {
  failureOf,
  isGivenUp,
  listNotified,
  type Notified,
  type NotifiedBy,
  retryMsAfter,
  type Sent,
} from "./notified.ts";
import { type Channel, channels, listRecipients, openUrl, type Recipient } from "./recipient.ts";
import { type RecipientAccess, readRecipientAccess } from "./recipient-access.ts";
import { postToSlack } from "./slack.ts";

export type NotificationDeps = {
  readonly ledger: Ledger;
  readonly topic: MailSender;
  readonly post: Post;
  /** Seals the URLs of chats. */
  readonly sealingKey: Secret;
  readonly timeZone: string;
  readonly stage: string;
  readonly consoleUrl: string;
};

/** How often accounts are checked (docs/costs.md has the cost). */
const CHECK_MINUTES = 5;
/** What lasts is repeated; a statement is ready once. */
const REMIND_MS: Readonly<Record<NotificationKind, number>> = {
  "wallet.low": DAY_MS,
  "endpoint.down": DAY_MS,
  "order.stuck": DAY_MS,
  "statement.ready": Number.POSITIVE_INFINITY,
};
/** What ends and begins again within this time is not said again, unless it then lasts for as long. */
const FLAPPING_MS = HOUR_MS;
const CONCURRENT_RECIPIENTS = 10;

type Run = NotificationDeps & { readonly subscriptions: () => ReturnType<typeof mailSubscriptions> };
type Counts = Pick<LogFields<"send-notifications.ran">, "sent" | "not_sent">;
type Result = Partial<Counts> & { readonly unreached?: number; readonly error?: unknown };

/**
 * Every 5 minutes: notifies each person who chose it of what is wrong now, once, and again after a day. What could not be
 * sent is found again by a later run, so that nothing has to be queued.
 */
export const sendNotifications = async (
  deps: NotificationDeps,
  deadline: Deadline,
): Promise<LogFields<"send-notifications.ran">> => {
  const { ledger } = deps;
  const unreadable = new Set<string>();
  const onUnreadable: OnUnreadable = (pk, error) => {
    unreadable.add(pk);
    log.alarm("notification.record_unreadable", { record: pk, ...errorFields(error) });
  };
  const recipients = await listRecipients(ledger, onUnreadable);
  const counts = { recipients: recipients.length, sent: 0, not_sent: 0 };
  if (recipients.length === 0 || minuteOf(ledger.clock()) % CHECK_MINUTES !== 0) return counts;
  // Only a sign-in shows that a person still has a role.
  const known = await readRecipientAccess(ledger, recipients, onUnreadable);
  const notifiable = known.filter(({ until }) => until >= isoTime(ledger.clock()));
  const checkDeadline = deadlineIn(CHECK_ACCOUNTS_MS_MAX, ledger.clock);
  const found = await findFindings({ ...deps, onUnreadable }, notifiable.map(wantedOf), checkDeadline);
  const stored = await listNotified(
    ledger,
    notifiable.map(({ recipient }) => personIdOf(recipient)),
    onUnreadable,
  );
  const notifiedOf = new Map(stored.map((each) => [each.pk, each]));
  let listed: ReturnType<Run["subscriptions"]> | undefined;
  const thisRun = { ...deps, subscriptions: () => (listed ??= mailSubscriptions(deps.topic)) };
  const inTurn = fromMovingStart(notifiable, ledger.clock());
  const results = mapInOrder(inTurn, CONCURRENT_RECIPIENTS, async (each): Promise<Result> => {
    if (deadline.remainingMs() <= RUN_RESERVE_MS) return { unreached: 1 };
    const pk = notifiedPk(personIdOf(each.recipient));
    // What the person was notified of is not known: another record would replace it.
    if (unreadable.has(pk)) return {};
    return notify(thisRun, each, found, notifiedOf.get(pk) ?? { pk }).catch((error: unknown) => ({ error }));
  });
  let unreached = 0;
  let firstError: unknown;
  for await (const { sent = 0, not_sent = 0, unreached: one = 0, error } of results) {
    counts.sent += sent;
    counts.not_sent += not_sent;
    unreached += one;
    firstError ??= error;
  }
  // Only now: the other recipients are notified.
  if (firstError !== undefined) throw firstError;
  return {
    ...counts,
    ...(found.unchecked > 0 && { unchecked: found.unchecked }),
    ...(unreached > 0 && { unreached }),
  };
};

const wantedOf = ({ recipient: { email, slack }, roles, ownerKeys }: RecipientAccess): Wanted => ({
  kinds: [...new Set([...(email?.kinds ?? []), ...(slack?.kinds ?? [])])],
  roles,
  ownerKeys,
});

/** At most one message by each channel. The record follows: a crash in between repeats a message and loses none. */
const notify = async (run: Run, access: RecipientAccess, found: Findings, before: Notified): Promise<Counts> => {
  const findings = found.of(wantedOf(access));
  const counts = { sent: 0, not_sent: 0 };
  let after = before;
  for (const channel of channels) {
    const chosen = access.recipient[channel]?.kinds ?? [];
    const own = findings.filter(({ kind }) => chosen.includes(kind));
    const open = openFindings(own, before[`by_${channel}`]?.sent ?? {}, found.hasLookedFor);
    const result = await notifyBy(run, access, channel, open, before);
    if (result === undefined) continue;
    counts.sent += result.hasSent ? 1 : 0;
    counts.not_sent += result.notified.failing === undefined ? 0 : 1;
    after = { ...after, [`by_${channel}`]: result.notified };
  }
  if (after !== before) await putIf(run.ledger, after, {});
  return counts;
};

/**
 * Findings of one kind that a person is notified of at a time, and as many that ended and are remembered for a while. Two
 * channels of four kinds then have 350 KB of the 400 KB that an item may have: a message that cannot be recorded is sent
 * again in each run.
 */
const EACH_KIND_MAX = 200;

type OpenFindings = {
  readonly findings: readonly Finding[];
  /** How many others there are. Each of them has its turn once an earlier one has ended. */
  readonly beyond: number;
  /** Keys of which the recipient was notified, and that this run had no time to look for: nothing is known to have changed. */
  readonly unknown: ReadonlySet<string>;
};

const openFindings = (
  all: readonly Finding[],
  known: NotifiedBy["sent"],
  hasLookedFor: Findings["hasLookedFor"],
): OpenFindings => {
  const found = new Set(all.map(({ key }) => key));
  const unknown = Object.keys(known).filter((key) => !found.has(key) && !hasLookedFor(key));
  const findings = [...Map.groupBy(all, ({ kind }) => kind)].flatMap(([kind, each]) =>
    each.slice(0, Math.max(0, EACH_KIND_MAX - unknown.filter((key) => key.startsWith(`${kind}#`)).length)),
  );
  return { findings, beyond: all.length - findings.length, unknown: new Set(unknown) };
};

/** Undefined if nothing is to be sent by the channel, nor to be recorded. */
const notifyBy = async (
  run: Run,
  access: RecipientAccess,
  channel: Channel,
  open: OpenFindings,
  before: Notified,
): Promise<{ readonly notified: NotifiedBy; readonly hasSent: boolean } | undefined> => {
  const { recipient } = access;
  const { findings } = open;
  const nowMs = run.ledger.clock();
  const { sent: known } = before[`by_${channel}`] ?? { sent: {} };
  const failing = failureOf(recipient, before, channel);
  if (failing !== undefined && (isGivenUp(failing) || Date.parse(failing.next_at) > nowMs)) return undefined;
  const { remembered, hasChanged } = remember(known, open, nowMs);
  const due = findings.filter(({ kind, key }) => isDue(kind, remembered[key], nowMs));
  const sending =
    due.length === 0 ? "nothing_due" : await send(run, access, channel, messageOf(run, access, open, due));
  if (typeof sending === "object") {
    const failure = failed(recipient, channel, sending.reason, failing, nowMs);
    return { notified: { sent: remembered, failing: failure }, hasSent: false };
  }
  // Failures count until something was sent, or nothing is to be sent any more.
  if (sending !== "sent") {
    return hasChanged || failing !== undefined ? { notified: { sent: remembered }, hasSent: false } : undefined;
  }
  const at = isoTime(nowMs);
  const now = findings.map(({ key }) => [key, { at, status: "lasts", since: remembered[key]?.since ?? at }] as const);
  return { notified: { sent: { ...remembered, ...Object.fromEntries(now) } }, hasSent: true };
};

/** What is due, and what else is still open: the next reminder of all of it is one message too. */
const messageOf = (
  run: Run,
  access: RecipientAccess,
  { findings, beyond }: OpenFindings,
  due: readonly Finding[],
): Message =>
  notificationMessage(run, access, {
    due,
    beyond,
    stillOpen: findings.filter(
      (finding) => !due.includes(finding) && REMIND_MS[finding.kind] < Number.POSITIVE_INFINITY,
    ),
  });

/** What the recipient was notified of, as this run finds it. What ended is forgotten after a while. */
const remember = (known: NotifiedBy["sent"], { findings, unknown }: OpenFindings, nowMs: number) => {
  const keys = new Set(findings.map(({ key }) => key));
  const remembered: Record<string, Sent> = {};
  let hasChanged = false;
  for (const [key, sent] of Object.entries(known)) {
    if (unknown.has(key)) {
      remembered[key] = sent;
      continue;
    }
    const status = keys.has(key) ? "lasts" : "ended";
    const isForgotten = sent.status === "ended" && nowMs - Date.parse(sent.since) >= FLAPPING_MS;
    if (!isForgotten) remembered[key] = status === sent.status ? sent : { ...sent, status, since: isoTime(nowMs) };
    hasChanged ||= remembered[key] !== sent;
  }
  for (const key of endedBeyond(remembered)) delete remembered[key];
  return { remembered, hasChanged };
};

/** Of each kind those that ended before the latest, of which as many are remembered as a person is notified of. */
const endedBeyond = (remembered: NotifiedBy["sent"]): readonly string[] => {
  const ended = Object.entries(remembered).filter(([, { status }]) => status === "ended");
  return [...Map.groupBy(ended, ([key]) => key.split("#")[0]).values()].flatMap((ofKind) =>
    ofKind
      .toSorted(([, one], [, other]) => (one.since > other.since ? -1 : 1))
      .slice(EACH_KIND_MAX)
      .map(([key]) => key),
  );
};

/** `sent`: undefined if the recipient was not notified of it, or it ended long ago. */
const isDue = (kind: NotificationKind, sent: Sent | undefined, nowMs: number): boolean => {
  if (sent === undefined || nowMs - Date.parse(sent.at) >= REMIND_MS[kind]) return true;
  return sent.since > sent.at && nowMs - Date.parse(sent.since) >= FLAPPING_MS;
};

/** `not_subscribed`: the person's address takes no e-mails yet. SNS would take the message, and deliver it to nobody. */
type Sending = "sent" | "not_subscribed" | { readonly reason: string };

const send = async (
  { topic, post, sealingKey, subscriptions }: Run,
  { recipient: { pk, slack }, email }: RecipientAccess,
  channel: Channel,
  message: Message,
): Promise<Sending> => {
  try {
    if (channel === "email") {
      if (email === null || (await subscriptions())(email) !== "confirmed") return "not_subscribed";
      await publishMail(topic, email, message);
    } else if (slack !== undefined) {
      const reason = await postToSlack(post, await openUrl(sealingKey, pk, slack.url), message);
      if (reason !== undefined) return { reason };
    }
    return "sent";
  } catch (error) {
    return { reason: errorFields(error).error };
  }
};

/** Counts a failed attempt. The log names the person by a hash, and the reason is a code. */
const failed = (
  recipient: Recipient,
  channel: Channel,
  reason: string,
  before: NotifiedBy["failing"],
  nowMs: number,
): NonNullable<NotifiedBy["failing"]> => {
  const attempts = (before?.attempts ?? 0) + 1;
  const failing = { version: recipient.version, attempts, next_at: isoTime(nowMs + retryMsAfter(attempts)) };
  const fields = { recipient: personIdOf(recipient), channel, reason, attempts };
  if (isGivenUp(failing)) log.alarm("notification.given_up", fields);
  else log.warn("notification.not_sent", fields);
  return failing;
};
