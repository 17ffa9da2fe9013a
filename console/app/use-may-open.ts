import { matchRoute, useRouter } from "wouter";
import { usePerson } from "../api/use-person.ts";
import { type ListedPage, pageList } from "./page-list.ts";

const listed: readonly ListedPage[] = Object.values(pageList);

/** Whether the person may open the page of a path below `/console`, which may have a query. */
export const useMayOpen = (): ((path: string) => boolean) => {
  const { may } = usePerson();
  const { parser } = useRouter();
  return (to) => {
    const [path = ""] = to.split("?");
    const page = listed.find(({ path: pattern }) => matchRoute(parser, pattern, path)[0]);
    const [, params] = matchRoute(parser, "/accounts/:account/*?", path);
    return page !== undefined && may(page.needs, params?.account);
  };
};
