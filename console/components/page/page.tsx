import { type ReactNode, useEffect, useRef } from "react";
import { useLocation } from "wouter";
import { useOptionalAccount } from "../../api/use-account.ts";
import { useListedPage } from "../../api/use-listed-page.ts";
import styles from "./page.module.css";

type PageProps = {
  /** The heading, and the start of the document's title; by default that of the list of pages. */
  readonly title?: string;
  /** What the page is for, in a sentence below the heading. */
  readonly description?: ReactNode;
  /** Buttons beside the heading. */
  readonly actions?: ReactNode;
  readonly children: ReactNode;
};

/** The path for which a page was shown last; the first page of a visit does not take the focus. */
let shownPath: string | undefined;

/** The path to which Back or Forward leads, until its page is shown. */
let backToPath: string | undefined;
addEventListener("popstate", () => {
  backToPath = location.pathname;
});

/** A page: its heading, its buttons and its content. The heading gets the focus when the page changes. */
export const Page = ({ title: ownTitle, description, actions, children }: PageProps) => {
  const heading = useRef<HTMLHeadingElement>(null);
  const account = useOptionalAccount();
  const [path] = useLocation();
  // A page of one record has its reference or date as heading, which alone does not say what it is.
  const kind = useListedPage()(path)?.title;
  const title = ownTitle ?? kind;
  useEffect(() => {
    const parts = [title, kind === title ? undefined : kind, account, "Airtime console"];
    document.title = parts.filter((part) => part !== undefined).join(" · ");
  }, [title, kind, account]);
  useEffect(() => {
    // After Back, the browser scrolls to where the person was.
    const preventScroll = location.pathname === backToPath;
    if (shownPath !== undefined && shownPath !== path) heading.current?.focus({ preventScroll });
    backToPath = undefined;
    shownPath = path;
  }, [path]);
  return (
    <div className={styles.page}>
      <div className={styles.head}>
        <div>
          <h1 ref={heading} tabIndex={-1} className={styles.title}>
            {title}
          </h1>
          {description !== undefined && <p className={styles.description}>{description}</p>}
        </div>
        {actions !== undefined && <div className={styles.actions}>{actions}</div>}
      </div>
      {children}
    </div>
  );
};

type SectionProps = {
  readonly title: ReactNode;
  readonly description?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
};

/** A part of a page with a heading of its own, in a box. */
export const Section = ({ title, description, actions, children }: SectionProps) => (
  <section className={styles.section}>
    <div className={styles.head}>
      <div>
        <h2 className={styles.sectionTitle}>{title}</h2>
        {description !== undefined && <p className={styles.description}>{description}</p>}
      </div>
      {actions !== undefined && <div className={styles.actions}>{actions}</div>}
    </div>
    {children}
  </section>
);

/** Fields and buttons in a row, for example the filters of a table; they wrap on a phone. */
export const Row = ({ children }: { readonly children: ReactNode }) => <div className={styles.row}>{children}</div>;

/** Sections side by side where there is room; `tiles` are narrower. */
export const Columns = ({ kind, children }: { readonly kind?: "tiles"; readonly children: ReactNode }) => (
  <div className={`${styles.columns} ${kind === undefined ? "" : styles.tiles}`}>{children}</div>
);
