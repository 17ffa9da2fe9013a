import { createHash } from "node:crypto";

type Subscription = { readonly Endpoint?: string | undefined; readonly SubscriptionArn?: string | undefined };

/** What is used of SNS (shared/platform/aws/sdk.ts). */
export type SnsClient = {
  readonly publish: (input: {
    readonly TopicArn: string;
    readonly Subject: string;
    readonly Message: string;
    readonly MessageAttributes: Record<string, { DataType: string; StringValue: string }>;
  }) => Promise<unknown>;
  readonly subscribe: (input: {
    readonly TopicArn: string;
    readonly Protocol: "email";
    readonly Endpoint: string;
    readonly Attributes: Record<string, string>;
  }) => Promise<unknown>;
  readonly unsubscribe: (input: { readonly SubscriptionArn: string }) => Promise<unknown>;
  readonly listSubscriptionsByTopic: (input: {
    readonly TopicArn: string;
    readonly NextToken?: string | undefined;
  }) => Promise<{ readonly Subscriptions?: readonly Subscription[]; readonly NextToken?: string | undefined }>;
};

/** The topic of a stage's notifications. Each address gets only the messages that name it. */
export type MailTopic = { readonly sns: SnsClient; readonly arn: string };
export type MailSender = {
  readonly sns: Pick<SnsClient, "publish" | "listSubscriptionsByTopic">;
  readonly arn: string;
};

/** The attribute of a message that names whom it is for. */
const RECIPIENT = "recipient";
/** Not the address itself: filters and attributes are seen by everybody who may read the topic. */
const recipientOf = (address: string): string => createHash("sha256").update(address.toLowerCase()).digest("base64url");

/** Whether a message with these attributes is for the address. */
export const isMailFor = (address: string, attributes: Readonly<Record<string, { readonly Value: string }>>): boolean =>
  attributes[RECIPIENT]?.Value === recipientOf(address);

export const publishMail = async (
  { sns, arn }: MailSender,
  address: string,
  { subject, text }: { readonly subject: string; readonly text: string },
): Promise<void> => {
  await sns.publish({
    TopicArn: arn,
    Subject: subject,
    Message: text,
    MessageAttributes: { [RECIPIENT]: { DataType: "String", StringValue: recipientOf(address) } },
  });
};

/**
 * Subscribes an address to the messages that name it. SNS sends it an e-mail to confirm, unless it has confirmed; again
 * if it has not. Without effect on an address that is subscribed.
 */
export const subscribeMail = async ({ sns, arn }: MailTopic, address: string): Promise<void> => {
  await sns.subscribe({
    TopicArn: arn,
    Protocol: "email",
    Endpoint: address,
    Attributes: { FilterPolicy: JSON.stringify({ [RECIPIENT]: [recipientOf(address)] }) },
  });
};

/** SNS has this instead of an ARN until the person has confirmed. Source: AWS, "ListSubscriptionsByTopic". */
const NOT_CONFIRMED = "PendingConfirmation";

export type MailSubscription = "none" | "unconfirmed" | "confirmed";

type Topic = { readonly sns: Pick<SnsClient, "listSubscriptionsByTopic">; readonly arn: string };

/** What SNS has of each address: ARNs, or words instead. It keeps one that was unsubscribed for a while, as `Deleted`. */
const listSubscriptions = async ({ sns, arn }: Topic): Promise<(address: string) => readonly string[]> => {
  const found: Subscription[] = [];
  let token: string | undefined;
  do {
    const { Subscriptions = [], NextToken } = await sns.listSubscriptionsByTopic({ TopicArn: arn, NextToken: token });
    found.push(...Subscriptions);
    token = NextToken;
  } while (token !== undefined);
  const byAddress = Map.groupBy(found, ({ Endpoint }) => Endpoint?.toLowerCase());
  return (address) => (byAddress.get(address.toLowerCase()) ?? []).map(({ SubscriptionArn = "" }) => SubscriptionArn);
};

/** Only a confirmed subscription has an ARN. */
const isArn = (found: string): boolean => found.startsWith("arn:");

/** Resolves with what SNS says of each address. */
export const mailSubscriptions = async (topic: Topic): Promise<(address: string) => MailSubscription> => {
  const subscriptionsOf = await listSubscriptions(topic);
  return (address) => {
    const found = subscriptionsOf(address);
    if (found.some(isArn)) return "confirmed";
    return found.includes(NOT_CONFIRMED) ? "unconfirmed" : "none";
  };
};

/** A call each, of which a request has time for some. */
const UNSUBSCRIBED_AT_ONCE = 20;

/**
 * Removes subscriptions of these addresses, not all of many; resolves with how many it removed. One that is not confirmed cannot be
 * removed: SNS removes it after 2 days.
 */
export const unsubscribeMail = async (topic: MailTopic, addresses: readonly string[]): Promise<number> => {
  if (addresses.length === 0) return 0;
  const subscriptionsOf = await listSubscriptions(topic);
  const subscribed = addresses
    .flatMap((address) => subscriptionsOf(address).filter(isArn))
    .slice(0, UNSUBSCRIBED_AT_ONCE);
  for (const SubscriptionArn of subscribed) await topic.sns.unsubscribe({ SubscriptionArn });
  return subscribed.length;
};
