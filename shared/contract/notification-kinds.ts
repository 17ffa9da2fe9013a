import * as z from "#zod";
import { bookReadRoles, orderReadRoles, type Role, readRoles } from "./roles.ts";

/** What a person can be notified of. */
export const notificationKind = z.enum(["wallet.low", "endpoint.down", "order.stuck", "statement.ready"]);
export type NotificationKind = z.infer<typeof notificationKind>;

/** SNS takes fewer than 100 characters of ASCII as a subject. Source: AWS, "Publish". */
export const notificationTitles: Readonly<Record<NotificationKind, string>> = {
  "wallet.low": "Wallet low",
  "endpoint.down": "Webhook endpoint down",
  "order.stuck": "Orders without an outcome",
  "statement.ready": "Statement ready",
};

/** Who is notified of all accounts. Others are notified of the accounts that they own. */
export const notificationRoles: Readonly<Record<NotificationKind, readonly Role[]>> = {
  "wallet.low": bookReadRoles,
  "endpoint.down": readRoles,
  "order.stuck": orderReadRoles,
  "statement.ready": bookReadRoles,
};

/** Whether a person in these roles is notified of all accounts. */
export const isOfAllAccounts = (kind: NotificationKind, roles: readonly Role[]): boolean =>
  roles.some((role) => notificationRoles[kind].includes(role));

/** A person who has not signed in for longer is not notified: only a sign-in shows that the person still has a role. */
export const SIGN_IN_DAYS_MAX = 30;
