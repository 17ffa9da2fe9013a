import type { ActionName } from "../../shared/contract/actions/actions.ts";

/** Where the navigation lists a page. `account` groups are below the account that is shown. */
export const navigationGroups = {
  service: ["Service", "To resolve", "Finance", "Upstream", "Records"],
  account: ["Account", "Integration", "History"],
  person: ["You"],
} as const;

export type ListedPage = {
  /** Below `/console`. */
  readonly path: string;
  readonly title: string;
  /** `account`: about the account in its path. `service`: about the whole service. */
  readonly audience: "account" | "service" | "person";
  /** What it reads first: people who may not do that see neither the page nor links to it. */
  readonly needs: ActionName;
  /** Absent: reached by a link from another page. */
  readonly group?: (typeof navigationGroups)[keyof typeof navigationGroups][number];
};

/** Every page of the console, by the name of its file in the folder of its audience in pages/. */
export const pageList = {
  today: { path: "/", title: "Today", needs: "attention", audience: "service", group: "Service" },
  accounts: { path: "/accounts", title: "Accounts", needs: "accounts list", audience: "service", group: "Service" },
  charts: { path: "/charts", title: "Charts", needs: "statistics show", audience: "service", group: "Service" },
  open: { path: "/open", title: "Open orders", needs: "transactions open", audience: "service", group: "To resolve" },
  unmatched: {
    path: "/unmatched",
    title: "Unmatched events",
    needs: "events list",
    audience: "service",
    group: "To resolve",
  },
  proposals: {
    path: "/proposals",
    title: "Proposals",
    needs: "proposals list",
    audience: "service",
    group: "To resolve",
  },
  waiting: {
    path: "/waiting",
    title: "Queued orders",
    needs: "transactions waiting",
    audience: "service",
    group: "To resolve",
  },
  "dead-letters": {
    path: "/dead-letters",
    title: "Messages given up",
    needs: "dead-letters list",
    audience: "service",
    group: "To resolve",
  },
  periods: { path: "/periods", title: "Periods", needs: "periods list", audience: "service", group: "Finance" },
  margin: { path: "/margin", title: "Margin", needs: "margin report", audience: "service", group: "Finance" },
  "refund-clock": {
    path: "/refund-clock",
    title: "Refund clock",
    needs: "refund-clock report",
    audience: "service",
    group: "Finance",
  },
  float: { path: "/float", title: "Float", needs: "float show", audience: "service", group: "Finance" },
  statements: {
    path: "/statements",
    title: "Upstream's statements",
    needs: "reconciliation statements list",
    audience: "service",
    group: "Finance",
  },
  "statement-day": {
    path: "/statements/:day",
    title: "Statement",
    needs: "reconciliation statements show",
    audience: "service",
  },
  period: { path: "/periods/:month", title: "Period", needs: "periods show", audience: "service" },
  upstream: { path: "/upstream", title: "Upstream", needs: "upstream show", audience: "service", group: "Upstream" },
  catalog: { path: "/catalog", title: "Catalog", needs: "catalog show", audience: "service", group: "Upstream" },
  doctor: { path: "/doctor", title: "Doctor", needs: "doctor", audience: "service", group: "Records" },
  runbook: { path: "/runbook", title: "Runbook", needs: "doctor", audience: "service", group: "Records" },
  people: { path: "/people", title: "People", needs: "access people", audience: "service", group: "Records" },
  "service-audit": {
    path: "/audit",
    title: "Audit log",
    needs: "audit list",
    audience: "service",
    group: "Records",
  },
  overview: {
    path: "/accounts/:account",
    title: "Overview",
    needs: "wallet show",
    audience: "account",
    group: "Account",
  },
  "account-settings": {
    path: "/accounts/:account/settings",
    title: "Settings",
    needs: "accounts show",
    audience: "account",
    group: "Account",
  },
  keys: {
    path: "/accounts/:account/keys",
    title: "Keys",
    needs: "keys list",
    audience: "account",
    group: "Integration",
  },
  whitelist: {
    path: "/accounts/:account/whitelist",
    title: "Whitelist",
    needs: "ips list",
    audience: "account",
    group: "Integration",
  },
  webhooks: {
    path: "/accounts/:account/webhooks",
    title: "Webhooks",
    needs: "deliveries list",
    audience: "account",
    group: "Integration",
  },
  endpoint: {
    path: "/accounts/:account/webhooks/:endpoint",
    title: "Endpoint",
    needs: "deliveries list",
    audience: "account",
  },
  api: { path: "/accounts/:account/api", title: "API", needs: "keys list", audience: "account", group: "Integration" },
  transactions: {
    path: "/accounts/:account/transactions",
    title: "Transactions",
    needs: "transactions list",
    audience: "account",
    group: "History",
  },
  transaction: {
    path: "/accounts/:account/transactions/:reference",
    title: "Transaction",
    needs: "transactions show",
    audience: "account",
  },
  statement: {
    path: "/accounts/:account/statement",
    title: "Statement",
    needs: "wallet statement",
    audience: "account",
    group: "History",
  },
  consents: {
    path: "/accounts/:account/consents",
    title: "Consents",
    needs: "consents list",
    audience: "account",
    group: "History",
  },
  notifications: {
    path: "/notifications",
    title: "Notifications",
    needs: "notifications show",
    audience: "person",
    group: "You",
  },
  search: { path: "/search", title: "Search", needs: "search", audience: "person" },
  "account-audit": {
    path: "/accounts/:account/audit",
    title: "Audit log",
    needs: "audit account",
    audience: "account",
    group: "History",
  },
} as const satisfies Readonly<Record<string, ListedPage>>;

export type PageName = keyof typeof pageList;
