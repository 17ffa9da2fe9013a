import type { ReactNode } from "react";
import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { capitalised } from "../values/capitalised.ts";
import { accountPath, PageLink, runbookPath } from "./page-link.tsx";

export type Check = ActionOutput<"doctor">["checks"][number];

/** Checks that are named, or resolved, on a page of their own. */
const pagesOfChecks: Readonly<Record<string, { readonly to: string; readonly title: string; readonly name?: string }>> =
  {
    selling: { to: "/upstream", title: "Upstream", name: "Purchases" },
    "upstream key": { to: "/upstream", title: "Upstream", name: "Upstream's key" },
    address: { to: "/upstream", title: "Upstream", name: "Our addresses at the upstream" },
    orders: { to: "/upstream", title: "Upstream", name: "Orders at the upstream" },
    catalog: { to: "/catalog", title: "Catalog" },
    "dead letters": { to: "/dead-letters", title: "Messages given up", name: "Messages given up" },
    "stuck transactions": { to: "/open", title: "Open orders", name: "Stuck orders" },
    "queued orders": { to: "/waiting", title: "Queued orders" },
    float: { to: "/float", title: "Float" },
    "success rates": { to: "/charts", title: "Charts" },
    events: { to: "/unmatched", title: "Unmatched events", name: "Unmatched events" },
  };

export const checkName = ({ check }: Check): string => capitalised(pagesOfChecks[check]?.name ?? check);

/** What a check found. An account links to the page with what was found of it. */
export const checkFound = ({ check, found }: Pick<Check, "check" | "found">): ReactNode => {
  const [account] = /acc_\w+/.exec(found) ?? [];
  if (account === undefined) return found;
  const [before = "", ...after] = found.split(account);
  return (
    <>
      {before}
      <PageLink to={accountPath(account, ...(check === "endpoints" ? ["webhooks"] : []))}>{account}</PageLink>
      {checkFound({ check, found: after.join(account) })}
    </>
  );
};

/** How the checks name a section of the runbook. */
const RUNBOOK = /"([^"]+)" in docs\/runbook\.md/;

/** What to do about what a check found, with links to the runbook's section and to the page that helps. */
export const checkToDo = ({ check, todo }: Check): ReactNode => {
  const page = pagesOfChecks[check];
  const [before, section, after] = todo?.split(RUNBOOK) ?? [];
  // A page replaces a command of the command line.
  const isShown = todo !== undefined && (section !== undefined || page === undefined);
  return (
    <>
      {isShown && before}
      {section !== undefined && <PageLink to={runbookPath(section)}>{section} in the runbook</PageLink>}
      {after}
      {page !== undefined && (
        <>
          {isShown && ". "}See <PageLink to={page.to}>{page.title}</PageLink>
        </>
      )}
    </>
  );
};
