import { matchRoute, useRouter } from "wouter";
import { type ListedPage, type PageName, pageList } from "./page-list.ts";

type NamedPage = ListedPage & { readonly name: PageName };

const isPageName = (name: string): name is PageName => Object.hasOwn(pageList, name);

/** Every page of the console, in the order of the navigation. */
export const pages: readonly NamedPage[] = Object.keys(pageList)
  .filter(isPageName)
  .map((name) => ({ name, ...pageList[name] }));

/** The page of a path below `/console`. */
export const useListedPage = (): ((path: string) => NamedPage | undefined) => {
  const { parser } = useRouter();
  return (path) => pages.find((page) => matchRoute(parser, page.path, path)[0]);
};
