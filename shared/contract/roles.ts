/** What a person may be for the whole service, the widest first. Each action names the roles that may do it. */
export const roles = ["operator", "finance", "support", "auditor", "reader"] as const;
export type Role = (typeof roles)[number];

/** The capacity in which a person does an action. */
export type Capacity = Role | "owner" | "person";

/** Roles that see what operators work on. */
export const readRoles = ["operator", "auditor", "reader"] as const;
/** Roles that read the books. */
export const bookReadRoles = [...readRoles, "finance"] as const;
/** Roles that read orders. */
export const orderReadRoles = [...readRoles, "support"] as const;
/** Roles that change the books. */
export const bookRoles = ["operator", "finance"] as const;
/** Roles that export files for auditors. */
export const exportRoles = ["operator", "finance", "auditor"] as const;

/** The groups of the identity provider that give each role, as the setting `console` names them. */
export const roleGroups = {
  operator: "operatorGroup",
  finance: "financeGroup",
  support: "supportGroup",
  auditor: "auditorGroup",
  reader: "readerGroup",
} as const satisfies Readonly<Record<Role, string>>;

/** How many of the last digits of a phone number each role sees; undefined: all. */
export const phoneDigitsShown: Readonly<Record<Role, number | undefined>> = {
  operator: undefined,
  finance: 2,
  support: 4,
  auditor: 2,
  reader: 2,
};

const roleTexts: Readonly<Record<Role, string>> = {
  operator: "Operator: everything",
  finance: "Finance: keeps the books",
  support: "Support: sees orders, adds notes",
  auditor: "Auditor: sees and exports everything, phone numbers masked",
  reader: "Reader: sees everything, phone numbers masked",
};

/** What a person with these roles may do, who may own accounts too. */
export const rolesText = (held: readonly Role[], isOwner: boolean): string =>
  [...held.map((role) => roleTexts[role]), ...(isOwner ? ["Owner: manages these accounts"] : [])].join("; ") ||
  "Nothing";
