import { queryOptions, usePrefetchQuery, useQuery } from "@tanstack/react-query";
import type { ComponentType } from "react";
import { useLocation } from "wouter";
import type { PageName } from "../api/page-list.ts";
import { useListedPage } from "../api/use-listed-page.ts";

/** Each page is a file of its own in the build. */
const loads: Readonly<Record<PageName, () => Promise<ComponentType>>> = {
  today: async () => (await import("../pages/service/today.tsx")).TodayPage,
  accounts: async () => (await import("../pages/service/accounts.tsx")).AccountsPage,
  charts: async () => (await import("../pages/service/charts.tsx")).ChartsPage,
  open: async () => (await import("../pages/service/open.tsx")).OpenPage,
  unmatched: async () => (await import("../pages/service/unmatched.tsx")).UnmatchedPage,
  proposals: async () => (await import("../pages/service/proposals.tsx")).ProposalsPage,
  waiting: async () => (await import("../pages/service/waiting.tsx")).WaitingPage,
  "dead-letters": async () => (await import("../pages/service/dead-letters.tsx")).DeadLettersPage,
  periods: async () => (await import("../pages/service/periods.tsx")).PeriodsPage,
  margin: async () => (await import("../pages/service/margin.tsx")).MarginPage,
  "refund-clock": async () => (await import("../pages/service/refund-clock.tsx")).RefundClockPage,
  float: async () => (await import("../pages/service/float.tsx")).FloatPage,
  statements: async () => (await import("../pages/service/statements.tsx")).StatementsPage,
  "statement-day": async () => (await import("../pages/service/statement-day.tsx")).StatementDayPage,
  period: async () => (await import("../pages/service/period.tsx")).PeriodPage,
  upstream: async () => (await import("../pages/service/upstream.tsx")).UpstreamPage,
  catalog: async () => (await import("../pages/service/catalog.tsx")).CatalogPage,
  doctor: async () => (await import("../pages/service/doctor.tsx")).DoctorPage,
  runbook: async () => (await import("../pages/service/runbook.tsx")).RunbookPage,
  people: async () => (await import("../pages/service/people.tsx")).PeoplePage,
  "service-audit": async () => (await import("../pages/service/service-audit.tsx")).ServiceAuditPage,
  overview: async () => (await import("../pages/account/overview.tsx")).OverviewPage,
  "account-settings": async () => (await import("../pages/account/account-settings.tsx")).AccountSettingsPage,
  keys: async () => (await import("../pages/account/keys.tsx")).KeysPage,
  whitelist: async () => (await import("../pages/account/whitelist.tsx")).WhitelistPage,
  webhooks: async () => (await import("../pages/account/webhooks.tsx")).WebhooksPage,
  endpoint: async () => (await import("../pages/account/webhooks.tsx")).EndpointPage,
  api: async () => (await import("../pages/account/api.tsx")).ApiPage,
  transactions: async () => (await import("../pages/account/transactions.tsx")).TransactionsPage,
  transaction: async () => (await import("../pages/account/transaction.tsx")).TransactionPage,
  statement: async () => (await import("../pages/account/statement.tsx")).StatementPage,
  consents: async () => (await import("../pages/account/consents.tsx")).ConsentsPage,
  notifications: async () => (await import("../pages/person/notifications.tsx")).NotificationsPage,
  search: async () => (await import("../pages/person/search.tsx")).SearchPage,
  "account-audit": async () => (await import("../pages/account/account-audit.tsx")).AccountAuditPage,
};

/** Loads a page's file. Not React's `lazy`, which shows for 300 ms that it loads even what arrives earlier. */
const pageQuery = (name: PageName | undefined) =>
  queryOptions({
    queryKey: ["page", name],
    queryFn: async () => (name === undefined ? null : { Component: await loads[name]() }),
    staleTime: Number.POSITIVE_INFINITY,
  });

const usePageOfPath = () => {
  const [path] = useLocation();
  return useListedPage()(path);
};

/** Begins to load the page of the path. */
export const usePagePreload = (): void => usePrefetchQuery(pageQuery(usePageOfPath()?.name));

/** The page of the path, without a Component until it is loaded; undefined if there is no such page. */
export const useCurrentPage = () => {
  const page = usePageOfPath();
  const { data } = useQuery({ ...pageQuery(page?.name), throwOnError: true });
  return page && { ...page, Component: data?.Component };
};
