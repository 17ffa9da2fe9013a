import * as z from "#zod";
import { notificationKind } from "../notification-kinds.ts";
import { roles } from "../roles.ts";
import { type ActionTable, changeInput, operatorName, serviceChange, serviceRead, whySchema } from "./action.ts";

const kinds = z.array(notificationKind);

/** What is wrong with a channel, or that nothing is. */
const channelStatus = z.enum([
  "off",
  "on",
  /** The last message could not be sent; it is tried again. */
  "failing",
  /** It failed for hours: nothing is sent until the person chooses again. */
  "given_up",
  /** The person has not signed in for 30 days: nothing is sent until the next sign-in. */
  "expired",
]);
/** `unconfirmed`: the person has not opened the link in the e-mail of AWS. `unsubscribed`: AWS has no such address any more. */
const emailStatus = z.enum([...channelStatus.options, "unconfirmed", "unsubscribed"]);

const choices = z.object({
  email: z.object({
    /** Null: the provider has verified no address of the person. */
    address: z.nullable(z.string()),
    kinds,
    status: emailStatus,
  }),
  slack: z.object({
    /** Of the URL, which is never shown. */
    host: z.nullable(z.string()),
    kinds,
    status: channelStatus,
  }),
});

/** What people are notified of when nobody looks at the console: each person for themselves. */
export const notificationsActions = {
  "notifications show": {
    scope: "member",
    roles,
    kind: "read",
    input: z.object({}),
    output: choices,
    summary: "Show what the person who signed in is notified of, and how",
    command: "none",
  },
  "notifications choose": {
    scope: "member",
    roles,
    kind: "change",
    input: z.extend(changeInput, {
      email: kinds.check(z.meta({ description: "what to send by e-mail, to the person's own address" })),
      slack: kinds.check(z.meta({ description: "what to post to the chat" })),
      /** Needed once; without it the URL stays. It is posted to before it is stored. */
      slack_url: z
        .optional(z.string().check(z.maxLength(2_000)))
        .register(z.globalRegistry, { description: "an incoming webhook of Slack, or of a chat that takes the same" }),
    }),
    output: choices,
    summary: "Choose your notifications and where they go; without any, the addresses are deleted",
    command: "none",
  },
  "notifications list": {
    ...serviceRead,
    input: z.object({}),
    output: z.object({
      recipients: z.array(
        z.object({
          /** As audit entries name the person. */
          name: z.string(),
          email: kinds,
          email_status: emailStatus,
          slack: kinds,
          slack_host: z.nullable(z.string()),
          slack_status: channelStatus,
          since: z.iso.datetime(),
          /** When messages end, unless the person signs in before. Null: the person has never signed in. */
          until: z.nullable(z.iso.datetime()),
        }),
      ),
    }),
    summary: "List who is notified of what",
    command: {
      table: {
        rows: "recipients",
        columns: ["name", "email", "email_status", "slack", "slack_host", "slack_status", "since", "until"],
      },
    },
  },
  "notifications stop": {
    ...serviceChange,
    input: z.object({
      person: operatorName.check(z.meta({ description: "the name of the person in notifications list" })),
      why: z.optional(whySchema),
    }),
    output: z.object({ stopped: z.int() }),
    summary: "End the notifications of a person who left, at once",
    command: { takes: { person: "<person>" }, example: "ada@example.com" },
  },
} as const satisfies ActionTable;
