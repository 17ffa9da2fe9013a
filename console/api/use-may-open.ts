import { matchRoute, useRouter } from "wouter";
import { useListedPage } from "./use-listed-page.ts";
import { usePerson } from "./use-person.ts";

/** Whether the person may open the page of a path below `/console`, which may have a query. */
export const useMayOpen = (): ((path: string) => boolean) => {
  const { may } = usePerson();
  const { parser } = useRouter();
  const listedPage = useListedPage();
  return (to) => {
    const [path = ""] = to.split("?");
    const page = listedPage(path);
    const [, params] = matchRoute(parser, "/accounts/:account/*?", path);
    return page !== undefined && may(page.needs, params?.account);
  };
};
