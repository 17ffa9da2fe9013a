import { isDelivered } from "../webhooks/post-result.ts";
import type { Post } from "../webhooks/post-webhook.ts";
import type { Message } from "./message.ts";

/** A name must not become a link or a mention of everybody. Source: Slack, "Formatting text for app surfaces". */
const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** Posts a message to a webhook of Slack, or of another chat that takes the same. Resolves with why it was not taken. */
export const postToSlack = async (post: Post, url: string, { subject, text }: Message): Promise<string | undefined> => {
  const body = JSON.stringify({ text: escaped(`${subject}\n\n${text}`) });
  const result = await post({ url, headers: { "content-type": "application/json" }, body });
  if (isDelivered(result)) return undefined;
  return result.kind === "failed" ? result.reason : `status_${result.status}`;
};
