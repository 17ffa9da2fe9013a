import * as z from "zod";

/** The permissions of a key. */
const permissions = ["vtu", "identity", "identity:retrieve"] as const;
export const permissionSchema = z.enum(permissions, `Must be some of ${permissions.join(", ")}`);
export type Permission = z.infer<typeof permissionSchema>;
/** Of a new key. `identity:retrieve` must be requested explicitly (docs/interface.md 2.D5). */
export const defaultPermissions: readonly Permission[] = ["vtu", "identity"];
/** `vtu`, or `vtu or identity` where one of them is sufficient. */
export const permissionText = (permissions: readonly Permission[], quote = ""): string =>
  permissions.map((permission) => `${quote}${permission}${quote}`).join(" or ");

export const lacksPermission = (permissions: readonly Permission[]): string =>
  `This API key lacks the permission ${permissionText(permissions)}`;
