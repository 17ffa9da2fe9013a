import { Link, useLocation } from "wouter";
import { navigationGroups } from "../api/page-list.ts";
import { useOptionalAccount, useOwnAccount } from "../api/use-account.ts";
import { useShownAccountName } from "../api/use-account-name.ts";
import { attentionCounts, checkCounts, useAttention, useChecks } from "../api/use-attention.ts";
import { pages } from "../api/use-listed-page.ts";
import { useMayOpen } from "../api/use-may-open.ts";
import { usePerson } from "../api/use-person.ts";
import { slugOf } from "../components/page/markdown.ts";
import { accountPath, linkTo, PageLink } from "../components/page/page-link.tsx";
import styles from "./shell.module.css";

/** Links to the pages that the person may see: those of the account that is shown, or else those of the service. */
export const Navigation = () => {
  const { seesService } = usePerson();
  const own = useOwnAccount();
  const account = useOptionalAccount() ?? (seesService ? undefined : own);
  if (account === undefined && !seesService) return null;
  const personal = <Groups audience="person" pathOf={(path) => path} />;
  if (account === undefined) {
    return (
      <>
        <Groups audience="service" pathOf={(path) => path} />
        {personal}
      </>
    );
  }
  return (
    <>
      {seesService && (
        <div className={styles.back}>
          <PageLink to="/">Today</PageLink>
          <PageLink to="/accounts">All accounts</PageLink>
        </div>
      )}
      <ShownAccount account={account} />
      <Groups audience="account" pathOf={(path) => path.replace(":account", encodeURIComponent(account))} />
      {personal}
    </>
  );
};

/** The name of the account, and links to the others that the person owns: a select would leave the page at each arrow key. */
const ShownAccount = ({ account }: { readonly account: string }) => {
  const others = usePerson().owns.filter(({ account_id }) => account_id !== account);
  const name = useShownAccountName(account);
  return (
    <div className={styles.account}>
      <div className={styles.accountName}>{name}</div>
      {others.length > 0 && (
        <details key={account}>
          <summary>Your other accounts</summary>
          <ul>
            {others.map((other) => (
              <li key={other.account_id}>
                <PageLink to={accountPath(other.account_id)}>{other.name}</PageLink>
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
};

/** Whether pages of single records are below a page, such as those of transactions below their list. */
const hasPagesBelow = (path: string): boolean => pages.some((page) => page.path.startsWith(`${path}/:`));

type GroupsProps = { readonly audience: keyof typeof navigationGroups; readonly pathOf: (path: string) => string };

const Groups = ({ audience, pathOf }: GroupsProps) => {
  const [current] = useLocation();
  const mayOpen = useMayOpen();
  return navigationGroups[audience].map((group) => {
    const listed = pages.filter(
      (page) => page.audience === audience && page.group === group && mayOpen(pathOf(page.path)),
    );
    if (listed.length === 0) return null;
    return (
      <div key={group} className={styles.group}>
        <div className={styles.groupTitle} id={slugOf(group)}>
          {group}
        </div>
        <ul aria-labelledby={slugOf(group)}>
          {listed.map(({ path, title }) => {
            const to = pathOf(path);
            const isCurrent = current === to || (hasPagesBelow(path) && current.startsWith(`${to}/`));
            return (
              <li key={path}>
                <Link
                  href={linkTo(to)}
                  className={styles.link}
                  {...(isCurrent && { "aria-current": current === to ? "page" : true })}
                >
                  {title}
                  {audience === "service" && <Count path={path} />}
                </Link>
              </li>
            );
          })}
        </ul>
      </div>
    );
  });
};

const isCounted = (path: string): path is keyof typeof attentionCounts => Object.hasOwn(attentionCounts, path);
const isChecked = (path: string): path is keyof typeof checkCounts => Object.hasOwn(checkCounts, path);

/** How much waits for a person on that page. */
const Count = ({ path }: { readonly path: string }) => {
  const { data } = useAttention();
  const checks = useChecks().data?.checks;
  const counted = data !== undefined && isCounted(path) ? attentionCounts[path](data) : 0;
  const checked = isChecked(path) ? checks?.find(({ check }) => check === checkCounts[path])?.count : undefined;
  const count = checked ?? counted;
  if (count === 0) return null;
  return (
    <span className={styles.count}>
      {count}
      <span className="visually-hidden"> to do</span>
    </span>
  );
};
