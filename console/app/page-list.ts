/** Where the navigation lists a page. `account` groups are below the account that is shown. */
export const navigationGroups = {
  service: ["Service", "To resolve", "Finance", "Upstream", "Records"],
  account: ["Account", "Integration", "History"],
} as const;

type ListedPage = {
  /** Below `/console`. */
  readonly path: string;
  readonly title: string;
  /** `account`: the account's owners, operators and readers. `service`: operators and readers. `person`: everybody. */
  readonly audience: "account" | "service" | "person";
  /** Absent: reached by a link from another page. */
  readonly group?: (typeof navigationGroups)["account" | "service"][number];
};

/** Every page of the console, by the name of its file in the folder of its audience in pages/. */
export const pageList = {
  today: { path: "/", title: "Today", audience: "service", group: "Service" },
  accounts: { path: "/accounts", title: "Accounts", audience: "service", group: "Service" },
  charts: { path: "/charts", title: "Charts", audience: "service", group: "Service" },
  open: { path: "/open", title: "Open orders", audience: "service", group: "To resolve" },
  unmatched: { path: "/unmatched", title: "Unmatched events", audience: "service", group: "To resolve" },
  waiting: { path: "/waiting", title: "Queued orders", audience: "service", group: "To resolve" },
  "dead-letters": { path: "/dead-letters", title: "Messages given up", audience: "service", group: "To resolve" },
  periods: { path: "/periods", title: "Periods", audience: "service", group: "Finance" },
  margin: { path: "/margin", title: "Margin", audience: "service", group: "Finance" },
  float: { path: "/float", title: "Float", audience: "service", group: "Finance" },
  statements: { path: "/statements", title: "Upstream's statements", audience: "service", group: "Finance" },
  "statement-day": { path: "/statements/:day", title: "Statement", audience: "service" },
  period: { path: "/periods/:month", title: "Period", audience: "service" },
  upstream: { path: "/upstream", title: "Upstream", audience: "service", group: "Upstream" },
  catalog: { path: "/catalog", title: "Catalog", audience: "service", group: "Upstream" },
  doctor: { path: "/doctor", title: "Doctor", audience: "service", group: "Records" },
  "service-audit": { path: "/audit", title: "Audit log", audience: "service", group: "Records" },
  overview: { path: "/accounts/:account", title: "Overview", audience: "account", group: "Account" },
  "account-settings": { path: "/accounts/:account/settings", title: "Settings", audience: "account", group: "Account" },
  keys: { path: "/accounts/:account/keys", title: "Keys", audience: "account", group: "Integration" },
  whitelist: { path: "/accounts/:account/whitelist", title: "Whitelist", audience: "account", group: "Integration" },
  webhook: { path: "/accounts/:account/webhook", title: "Webhook", audience: "account", group: "Integration" },
  api: { path: "/accounts/:account/api", title: "API", audience: "account", group: "Integration" },
  transactions: {
    path: "/accounts/:account/transactions",
    title: "Transactions",
    audience: "account",
    group: "History",
  },
  transaction: { path: "/accounts/:account/transactions/:reference", title: "Transaction", audience: "account" },
  statement: { path: "/accounts/:account/statement", title: "Statement", audience: "account", group: "History" },
  consents: { path: "/accounts/:account/consents", title: "Consents", audience: "account", group: "History" },
  search: { path: "/search", title: "Search", audience: "person" },
  "account-audit": { path: "/accounts/:account/audit", title: "Audit log", audience: "account", group: "History" },
} as const satisfies Readonly<Record<string, ListedPage>>;

export type PageName = keyof typeof pageList;
