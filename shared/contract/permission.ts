import * as z from "zod";

/** The permissions of a key. New keys get `vtu` and `identity`. */
export const permissionSchema = z.enum(["vtu", "identity", "identity:retrieve"]);
export type Permission = z.infer<typeof permissionSchema>;
export const lacksPermission = (permission: Permission): string => `This API key lacks the permission ${permission}`;
