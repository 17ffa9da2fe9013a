import * as z from "#zod";

/** What operators may let an account do. Each order counts for one of them. */
export const entitlementSchema = z.enum(["vtu", "identity", "identity:advanced", "identity:retrieve"]);
export type Entitlement = z.infer<typeof entitlementSchema>;

/** What an account is entitled to, each with its live orders per day in Lagos; null: without a quota. */
export const entitlementsSchema = z
  .partialRecord(
    z.enum(entitlementSchema.options, `Must be some of ${entitlementSchema.options.join(", ")}`),
    z.nullable(z.int().check(z.minimum(1), z.maximum(1_000_000))),
  )
  .register(z.globalRegistry, {
    description: "each with its live orders a day, identity=1000, or without a quota, vtu; none for nothing",
  });
export type Entitlements = Readonly<z.infer<typeof entitlementsSchema>>;

/** How many live orders of a kind an account may place a day. */
export type DailyQuota = { readonly entitlement: Entitlement; readonly perDay: number };

/** Everything, without quotas. */
export const ALL_ENTITLEMENTS: Entitlements = {
  vtu: null,
  identity: null,
  "identity:advanced": null,
  "identity:retrieve": null,
};

/** Of a new account, until an operator decides otherwise (docs/interface.md 2.D9). */
export const INITIAL_ENTITLEMENTS: Entitlements = { vtu: null, identity: null, "identity:advanced": null };

export const isEntitled = (entitlements: Entitlements, to: Entitlement): boolean => entitlements[to] !== undefined;

/** The entitlements that `isKept` keeps. */
export const filterEntitlements = (
  entitlements: Entitlements,
  isKept: (entitlement: Entitlement) => boolean,
): Entitlements =>
  Object.fromEntries(
    entitlementSchema.options
      .filter((each) => isEntitled(entitlements, each) && isKept(each))
      .map((each) => [each, entitlements[each]]),
  );

/** What both allow, with the smaller quota. */
export const commonEntitlements = (one: Entitlements, other: Entitlements): Entitlements =>
  Object.fromEntries(
    Object.entries(filterEntitlements(one, (each) => isEntitled(other, each))).map(([each, quota]) => {
      const quotas = [quota, other[entitlementSchema.parse(each)]].filter((perDay) => typeof perDay === "number");
      return [each, quotas.length === 0 ? null : Math.min(...quotas)];
    }),
  );

/** Whether `after` allows more live orders a day of some kind than `before`. */
export const raisesEntitlements = (before: Entitlements, after: Entitlements): boolean => {
  const perDay = (entitlements: Entitlements, each: Entitlement): number =>
    isEntitled(entitlements, each) ? (entitlements[each] ?? Number.POSITIVE_INFINITY) : 0;
  return entitlementSchema.options.some((each) => perDay(before, each) < perDay(after, each));
};

/** `vtu identity=1000`, as it is typed; `none` for nothing. */
export const entitlementsText = (entitlements: Entitlements): string =>
  entitlementSchema.options
    .filter((each) => isEntitled(entitlements, each))
    .map((each) => (entitlements[each] === null ? each : `${each}=${entitlements[each]}`))
    .join(" ") || "none";

/** The permissions of a key that places orders: its account needs an entitlement besides. */
export const orderPermissions = ["vtu", "identity", "identity:retrieve"] as const;
/** Those that every account may give its keys. */
const commonPermissions = ["read"] as const;
const permissions = [...orderPermissions, ...commonPermissions] as const;
export const permissionSchema = z.enum(permissions, `Must be some of ${permissions.join(", ")}`);
export type Permission = z.infer<typeof permissionSchema>;

/** The permission that a key needs for what an account is entitled to. */
const permissionFor = {
  vtu: "vtu",
  identity: "identity",
  "identity:advanced": "identity",
  "identity:retrieve": "identity:retrieve",
} as const satisfies Record<Entitlement, Permission>;

/** Whether an account with these entitlements may use a permission. */
export const allows = (entitlements: Entitlements, permission: Permission): boolean =>
  commonPermissions.some((each) => each === permission) ||
  entitlementSchema.options.some((each) => permissionFor[each] === permission && isEntitled(entitlements, each));

/** What a key with these permissions may do of what its account is entitled to. */
export const permittedEntitlements = (
  entitlements: Entitlements,
  permissions: ReadonlySet<Permission> | undefined,
): Entitlements => filterEntitlements(entitlements, (each) => permissions?.has(permissionFor[each]) === true);

/** Of a new key. `identity:retrieve` must be requested explicitly (docs/interface.md 2.D5). */
export const defaultPermissions = (entitlements: Entitlements): readonly Permission[] =>
  permissions.filter((each) => allows(entitlements, each) && each !== "identity:retrieve");

/** `vtu`, or `vtu or identity` where one of them is sufficient. */
export const permissionText = (permissions: readonly Permission[], quote = ""): string =>
  permissions.map((permission) => `${quote}${permission}${quote}`).join(" or ");

export const lacksPermission = (permissions: readonly Permission[]): string =>
  `This API key lacks the permission ${permissionText(permissions)}`;

export const notEntitled = (to: readonly (Permission | Entitlement)[]): string =>
  `This account is not entitled to ${to.join(" or ")}: ask an operator of the service`;
