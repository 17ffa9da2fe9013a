import { Anchor } from "@mantine/core";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { rowFilter } from "../../api/use-filters.ts";
import { useMayOpen } from "../../api/use-may-open.ts";
import { rowName } from "../table/row-at-top.ts";
import styles from "../values/values.module.css";
import { slugOf } from "./markdown.ts";

/** The path of an account's page: `accountPath(account, "keys")`. */
export const accountPath = (account: string, ...parts: readonly string[]): string =>
  ["/accounts", account, ...parts].map((part, index) => (index === 0 ? part : encodeURIComponent(part))).join("/");

/** The section of the runbook with this heading. */
export const runbookPath = (heading: string): string => `/runbook?section=${slugOf(heading)}`;

/** A page whose table with this label begins with the row of this key. */
export const rowPath = (page: string, label: string, key: string, filters: Record<string, string> = {}): string =>
  `${page}?${new URLSearchParams({ ...filters, ...rowFilter(slugOf(label), rowName(key)) })}`;

/** What Link makes `/console` of: the service knows no `/console/`. */
export const linkTo = (path: string): string => (path === "/" ? "" : path);

type PageLinkProps = { readonly to: string; readonly onClick?: () => void; readonly children: ReactNode };

/** A link to another page of the console, if the person may open it; `to` is below `/console`. */
export const PageLink = ({ to, onClick, children }: PageLinkProps) =>
  useMayOpen()(to) ? (
    <Anchor component={Link} href={linkTo(to)} onClick={onClick} inherit underline="always" className={styles.link}>
      {children}
    </Anchor>
  ) : (
    children
  );
