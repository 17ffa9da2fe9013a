import { type ComponentType, type LazyExoticComponent, lazy } from "react";

/** Where the navigation lists a page. `account` groups are below the account that is shown. */
export const navigationGroups = {
  service: ["Service", "To resolve", "Upstream", "Records"],
  account: ["Account", "Integration", "History"],
} as const;

export type ConsolePage = {
  /** Below `/console`. */
  readonly path: string;
  readonly title: string;
  /** `account`: the account's owners, operators and readers. `service`: operators and readers. */
  readonly audience: "account" | "service";
  /** Absent: reached by a link from another page. */
  readonly group?: (typeof navigationGroups)["account" | "service"][number];
  readonly Component: LazyExoticComponent<ComponentType>;
};

const page = (options: Omit<ConsolePage, "Component">, load: () => Promise<ComponentType>): ConsolePage => ({
  ...options,
  Component: lazy(async () => ({ default: await load() })),
});

/** Every page of the console. An account page reads its account from the path with `useAccount`. */
export const pages: readonly ConsolePage[] = [
  page(
    { path: "/", title: "Today", audience: "service", group: "Service" },
    async () => (await import("../pages/today.tsx")).TodayPage,
  ),
  page(
    { path: "/accounts", title: "Accounts", audience: "service", group: "Service" },
    async () => (await import("../pages/accounts.tsx")).AccountsPage,
  ),
  page(
    { path: "/charts", title: "Charts", audience: "service", group: "Service" },
    async () => (await import("../pages/charts.tsx")).ChartsPage,
  ),
  page(
    { path: "/open", title: "Open orders", audience: "service", group: "To resolve" },
    async () => (await import("../pages/open.tsx")).OpenPage,
  ),
  page(
    { path: "/unmatched", title: "Unmatched events", audience: "service", group: "To resolve" },
    async () => (await import("../pages/unmatched.tsx")).UnmatchedPage,
  ),
  page(
    { path: "/waiting", title: "Waiting orders", audience: "service", group: "To resolve" },
    async () => (await import("../pages/waiting.tsx")).WaitingPage,
  ),
  page(
    { path: "/dead-letters", title: "Messages given up", audience: "service", group: "To resolve" },
    async () => (await import("../pages/dead-letters.tsx")).DeadLettersPage,
  ),
  page(
    { path: "/upstream", title: "Upstream", audience: "service", group: "Upstream" },
    async () => (await import("../pages/upstream.tsx")).UpstreamPage,
  ),
  page(
    { path: "/catalog", title: "Catalog", audience: "service", group: "Upstream" },
    async () => (await import("../pages/catalog.tsx")).CatalogPage,
  ),
  page(
    { path: "/doctor", title: "Doctor", audience: "service", group: "Records" },
    async () => (await import("../pages/doctor.tsx")).DoctorPage,
  ),
  page(
    { path: "/audit", title: "Audit log", audience: "service", group: "Records" },
    async () => (await import("../pages/service-audit.tsx")).ServiceAuditPage,
  ),
  page(
    { path: "/accounts/:account", title: "Overview", audience: "account", group: "Account" },
    async () => (await import("../pages/overview.tsx")).OverviewPage,
  ),
  page(
    { path: "/accounts/:account/settings", title: "Settings", audience: "account", group: "Account" },
    async () => (await import("../pages/account-settings.tsx")).AccountSettingsPage,
  ),
  page(
    { path: "/accounts/:account/keys", title: "Keys", audience: "account", group: "Integration" },
    async () => (await import("../pages/keys.tsx")).KeysPage,
  ),
  page(
    { path: "/accounts/:account/whitelist", title: "Whitelist", audience: "account", group: "Integration" },
    async () => (await import("../pages/whitelist.tsx")).WhitelistPage,
  ),
  page(
    { path: "/accounts/:account/webhook", title: "Webhook", audience: "account", group: "Integration" },
    async () => (await import("../pages/webhook.tsx")).WebhookPage,
  ),
  page(
    { path: "/accounts/:account/api", title: "API", audience: "account", group: "Integration" },
    async () => (await import("../pages/api.tsx")).ApiPage,
  ),
  page(
    { path: "/accounts/:account/transactions", title: "Transactions", audience: "account", group: "History" },
    async () => (await import("../pages/transactions.tsx")).TransactionsPage,
  ),
  page(
    { path: "/accounts/:account/transactions/:reference", title: "Transaction", audience: "account" },
    async () => (await import("../pages/transaction.tsx")).TransactionPage,
  ),
  page(
    { path: "/accounts/:account/statement", title: "Statement", audience: "account", group: "History" },
    async () => (await import("../pages/statement.tsx")).StatementPage,
  ),
  page(
    { path: "/accounts/:account/consents", title: "Consents", audience: "account", group: "History" },
    async () => (await import("../pages/consents.tsx")).ConsentsPage,
  ),
  page(
    { path: "/accounts/:account/audit", title: "Audit log", audience: "account", group: "History" },
    async () => (await import("../pages/account-audit.tsx")).AccountAuditPage,
  ),
];
