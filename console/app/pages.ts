import { type ComponentType, lazy } from "react";
import { type PageName, pageList } from "./page-list.ts";

/** Each page is a file of its own in the build. */
const loads: Readonly<Record<PageName, () => Promise<ComponentType>>> = {
  today: async () => (await import("../pages/service/today.tsx")).TodayPage,
  accounts: async () => (await import("../pages/service/accounts.tsx")).AccountsPage,
  charts: async () => (await import("../pages/service/charts.tsx")).ChartsPage,
  open: async () => (await import("../pages/service/open.tsx")).OpenPage,
  unmatched: async () => (await import("../pages/service/unmatched.tsx")).UnmatchedPage,
  waiting: async () => (await import("../pages/service/waiting.tsx")).WaitingPage,
  "dead-letters": async () => (await import("../pages/service/dead-letters.tsx")).DeadLettersPage,
  periods: async () => (await import("../pages/service/periods.tsx")).PeriodsPage,
  margin: async () => (await import("../pages/service/margin.tsx")).MarginPage,
  float: async () => (await import("../pages/service/float.tsx")).FloatPage,
  statements: async () => (await import("../pages/service/statements.tsx")).StatementsPage,
  "statement-day": async () => (await import("../pages/service/statement-day.tsx")).StatementDayPage,
  period: async () => (await import("../pages/service/period.tsx")).PeriodPage,
  upstream: async () => (await import("../pages/service/upstream.tsx")).UpstreamPage,
  catalog: async () => (await import("../pages/service/catalog.tsx")).CatalogPage,
  doctor: async () => (await import("../pages/service/doctor.tsx")).DoctorPage,
  "service-audit": async () => (await import("../pages/service/service-audit.tsx")).ServiceAuditPage,
  overview: async () => (await import("../pages/account/overview.tsx")).OverviewPage,
  "account-settings": async () => (await import("../pages/account/account-settings.tsx")).AccountSettingsPage,
  keys: async () => (await import("../pages/account/keys.tsx")).KeysPage,
  whitelist: async () => (await import("../pages/account/whitelist.tsx")).WhitelistPage,
  webhook: async () => (await import("../pages/account/webhook.tsx")).WebhookPage,
  api: async () => (await import("../pages/account/api.tsx")).ApiPage,
  transactions: async () => (await import("../pages/account/transactions.tsx")).TransactionsPage,
  transaction: async () => (await import("../pages/account/transaction.tsx")).TransactionPage,
  statement: async () => (await import("../pages/account/statement.tsx")).StatementPage,
  consents: async () => (await import("../pages/account/consents.tsx")).ConsentsPage,
  search: async () => (await import("../pages/person/search.tsx")).SearchPage,
  "account-audit": async () => (await import("../pages/account/account-audit.tsx")).AccountAuditPage,
};

const isPageName = (name: string): name is PageName => Object.hasOwn(pageList, name);

/** Every page of the console. An account page reads its account from the path with `useAccount`. */
export const pages = Object.keys(pageList)
  .filter(isPageName)
  .map((name) => {
    const { path, title, audience, ...optional } = pageList[name];
    return {
      path,
      title,
      audience,
      group: "group" in optional ? optional.group : undefined,
      Component: lazy(async () => ({ default: await loads[name]() })),
    };
  });
