import { personIdOfIdentity } from "../access/person-item.ts";
import type { ActionInput, ActionOutput } from "../contract/actions/actions.ts";
import type { notificationsActions } from "../contract/actions/notifications.ts";
import { SERVICE } from "../ledger/audit.ts";
import { ifVersion } from "../ledger/put-if.ts";
import { personIdOf, RECIPIENTS_LIST, recipientPk } from "../ledger/schema.ts";
import { transactUnlessRefused } from "../ledger/transact.ts";
import {
  type MailSubscription,
  type MailTopic,
  mailSubscriptions,
  subscribeMail,
  unsubscribeMail,
} from "../notifications/mail-topic.ts";
import { failureOf, isGivenUp, listNotified, type Notified, readNotified } from "../notifications/notified.ts";
import { type Channel, listRecipients, type Recipient, readRecipient, sealUrl } from "../notifications/recipient.ts";
import { readRecipientAccess } from "../notifications/recipient-access.ts";
import { postToSlack } from "../notifications/slack.ts";
import { errorFields, log } from "../platform/log.ts";
import { NotFoundError, OperatorError } from "../platform/operator-error.ts";
import { isoTime } from "../platform/time.ts";
import { parseEndpointUrl } from "../webhooks/address-guard.ts";
import { createPost } from "../webhooks/post-webhook.ts";
import {
  type ActionContext,
  type AuditFields,
  auditItem,
  type ConsoleRequest,
  requireRequest,
} from "./action-context.ts";
import type { ActionRuns } from "./action-runs.ts";

type Choices = ActionOutput<"notifications show">;
type Choice = ActionInput<"notifications choose">;

export const notificationsRuns: ActionRuns<typeof notificationsActions> = {
  "notifications show": (context) => show(context, requireRequest(context)),

  "notifications choose": async (context, choice) => {
    const request = requireRequest(context);
    const { email, slack } = choice;
    const before = await readRecipient(context.ledger, personIdOfIdentity(request.identity));
    if (request.actor.person === undefined && email.length + slack.length > 0) {
      throw new OperatorError("Only people who sign in can be notified");
    }
    const after = await chosen(context, request, before, choice);
    const details = {
      email: email.join(),
      slack: slack.join(),
      ...(after.slack !== undefined && { slack_host: after.slack.host }),
    };
    await replaceRecipient(context, before, after, { action: "notifications choose", why: choice.why, details });
    if (before?.email?.address !== after.email?.address) await unsubscribe(context, before);
    return show(context, request);
  },

  "notifications list": async ({ ledger, mail }) => {
    const recipients = await listRecipients(ledger);
    const stored = await listNotified(ledger, recipients.map(personIdOf));
    const notifiedOf = new Map(stored.map((each) => [personIdOf(each), each]));
    const access = await readRecipientAccess(ledger, recipients);
    const accessByPk = new Map(access.map((each) => [each.recipient.pk, each]));
    const subscriptionOf = mail && (await mailSubscriptions(mail));
    return {
      recipients: recipients.map((recipient) => {
        const { pk, by, email, slack, created_at } = recipient;
        const notified = notifiedOf.get(personIdOf(recipient));
        const { until = null, email: address = null } = accessByPk.get(pk) ?? {};
        const isExpired = until === null || until < isoTime(ledger.clock());
        const statusBy = (channel: Channel) => {
          const status = statusOf(recipient, notified, channel);
          return isExpired && status !== "off" ? "expired" : status;
        };
        return {
          name: by,
          email: email?.kinds ?? [],
          email_status: emailStatus(statusBy("email"), subscriptionOf, address),
          slack: slack?.kinds ?? [],
          slack_host: slack?.host ?? null,
          slack_status: statusBy("slack"),
          since: created_at,
          until,
        };
      }),
    };
  },

  "notifications stop": async (context, { person, why }) => {
    const recipients = (await listRecipients(context.ledger)).filter(({ by }) => by === person);
    if (recipients.length === 0)
      throw new NotFoundError(`${person} has chosen no notifications: see notifications list`);
    for (const recipient of recipients) {
      const auditFields = { action: "notifications stop", why, details: { person } };
      await replaceRecipient(context, recipient, stopped(recipient), auditFields);
      await unsubscribe(context, recipient);
    }
    return { stopped: recipients.length };
  },
};

const requireMail = ({ mail }: ActionContext): MailTopic => {
  if (mail === undefined) throw new OperatorError("This stage sends no notifications: it has no console");
  return mail;
};

/** Nothing is chosen, and no address is kept. */
const stopped = ({ pk, by, version, created_at }: Recipient): Recipient => ({
  ...{ pk, by, created_at },
  version: version + 1,
});

/** What is stored of a choice. What can fail comes first: the address is subscribed, and the chat has taken a message. */
const chosen = async (
  context: ActionContext,
  { by, identity, owner, stage }: ConsoleRequest,
  before: Recipient | undefined,
  { email, slack, slack_url }: Choice,
): Promise<Recipient> => {
  const pk = recipientPk(personIdOfIdentity(identity));
  const created_at = before?.created_at ?? isoTime(context.ledger.clock());
  const none = stopped({ pk, by, version: before?.version ?? 0, created_at });
  const chat = slack.length === 0 ? undefined : await chatOf(context, stage.name, { pk, before, slack_url });
  if (email.length > 0) {
    if (owner.email === undefined) {
      throw new OperatorError("Your identity provider has not verified an e-mail address for you", { field: "email" });
    }
    await subscribe(context, owner.email);
  }
  return {
    ...none,
    ...(email.length > 0 && owner.email !== undefined && { email: { address: owner.email, kinds: [...email] } }),
    ...(chat !== undefined && { slack: { ...chat, kinds: [...slack] } }),
    ...(email.length + slack.length > 0 && { list_key: RECIPIENTS_LIST }),
  };
};

type ChatChange = {
  readonly pk: string;
  readonly before: Recipient | undefined;
  readonly slack_url: string | undefined;
};

/** The chat's URL, sealed: the one that is stored, or the new one, once it has taken a message. */
const chatOf = async (context: ActionContext, stage: string, { pk, before, slack_url }: ChatChange) => {
  if (slack_url === undefined || slack_url === "") {
    if (before?.slack === undefined) throw new OperatorError("Give the chat's webhook URL", { field: "slack_url" });
    return { host: before.slack.host, url: before.slack.url };
  }
  const { href, host } = await parseEndpointUrl(slack_url, context.addressRules, "slack_url");
  const message = {
    subject: `${stage}: Notifications`,
    text: "What you chose in the console is posted here from now on.",
  };
  const reason = await postToSlack(createPost(context.addressRules), href, message);
  if (reason !== undefined)
    throw new OperatorError(`${host} did not take a message (${reason}): check the URL`, { field: "slack_url" });
  return { host, url: await sealUrl(context.endpoints.webhookSealingKey, pk, href) };
};

/** Source: AWS, "Subscribe": a topic has 200 filters, unless AWS raises its quota. */
const LIMITS: readonly string[] = ["FilterPolicyLimitExceededException", "SubscriptionLimitExceededException"];

const subscribe = async (context: ActionContext, address: string): Promise<void> => {
  const mail = requireMail(context);
  try {
    await subscribeMail(mail, address);
  } catch (error) {
    if (!(error instanceof Error) || !LIMITS.includes(error.name)) throw error;
    const unused = await unusedAddresses(context.ledger);
    if ((await unsubscribeMail(mail, unused)) > 0) return subscribeMail(mail, address);
    throw new OperatorError("AWS accepts no more e-mail addresses for this stage. Choose a chat, or ask an operator", {
      field: "email",
      cause: error,
    });
  }
};

/**
 * Addresses to which nothing is sent any more, because their people have not signed in for long or have other ones now: those of
 * people who left would fill the topic within years. The page asks who signs in again to choose again.
 */
const unusedAddresses = async (ledger: ActionContext["ledger"]): Promise<readonly string[]> => {
  const recipients = (await listRecipients(ledger)).filter(({ email }) => email !== undefined);
  const access = await readRecipientAccess(ledger, recipients);
  const current = access.filter(({ until }) => until >= isoTime(ledger.clock()));
  const inUse = new Set(current.map(({ email }) => email));
  const chosen = new Set(recipients.flatMap(({ email }) => email?.address ?? []));
  return [...chosen].filter((address) => !inUse.has(address));
};

/** Nothing is sent to an address that is not chosen, so that a fault here only leaves it in the topic. */
const unsubscribe = async ({ mail }: ActionContext, before: Recipient | undefined): Promise<void> => {
  if (mail === undefined || before?.email === undefined) return;
  try {
    await unsubscribeMail(mail, [before.email.address]);
  } catch (error) {
    log.warn("notification.not_unsubscribed", { recipient: personIdOf(before), ...errorFields(error) });
  }
};

/** Of two changes at the same time, such as a choice and the end of all notifications, the second one is refused. */
const replaceRecipient = async (
  context: ActionContext,
  before: Recipient | undefined,
  Item: Recipient,
  auditFields: AuditFields,
): Promise<void> => {
  const isReplaced = await transactUnlessRefused(context.ledger, [
    { Put: { TableName: context.ledger.table, Item, ...ifVersion(before?.version ?? 0) } },
    auditItem(context, SERVICE, auditFields),
  ]);
  if (!isReplaced)
    throw new OperatorError("These notifications were changed at the same time. Check them and try again");
};

const show = async ({ ledger, mail }: ActionContext, { identity, owner }: ConsoleRequest): Promise<Choices> => {
  const personId = personIdOfIdentity(identity);
  const [recipient, notified] = await Promise.all([readRecipient(ledger, personId), readNotified(ledger, personId)]);
  const address = owner.email ?? null;
  const status = statusOf(recipient, notified, "email");
  const subscriptionOf = status === "on" && mail ? await mailSubscriptions(mail) : undefined;
  return {
    email: { address, kinds: recipient?.email?.kinds ?? [], status: emailStatus(status, subscriptionOf, address) },
    slack: {
      host: recipient?.slack?.host ?? null,
      kinds: recipient?.slack?.kinds ?? [],
      status: statusOf(recipient, notified, "slack"),
    },
  };
};

const statusOf = (recipient: Recipient | undefined, notified: Notified | undefined, channel: Channel) => {
  if (recipient?.[channel] === undefined) return "off";
  const failing = failureOf(recipient, notified, channel);
  if (failing === undefined) return "on";
  return isGivenUp(failing) ? "given_up" : "failing";
};

/** AWS does not say whether an e-mail arrived, but whether the address that the person has now takes any. */
const emailStatus = (
  status: Choices["slack"]["status"],
  subscriptionOf: ((address: string) => MailSubscription) | undefined,
  address: string | null,
): Choices["email"]["status"] => {
  if (status !== "on" || subscriptionOf === undefined) return status;
  const subscription = address === null ? "none" : subscriptionOf(address);
  return subscription === "confirmed" ? "on" : subscription === "none" ? "unsubscribed" : "unconfirmed";
};
