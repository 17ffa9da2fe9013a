import * as z from "zod";

/** The permissions of a key. New keys get `vtu` and `identity`. */
export const permissionSchema = z.enum(["vtu", "identity", "identity:retrieve"]);
export type Permission = z.infer<typeof permissionSchema>;
/** `vtu`, or `vtu or identity` where one of them is sufficient. */
export const permissionText = (permissions: readonly Permission[], quote = ""): string =>
  permissions.map((permission) => `${quote}${permission}${quote}`).join(" or ");

export const lacksPermission = (permissions: readonly Permission[]): string =>
  `This API key lacks the permission ${permissionText(permissions)}`;
