import { matchRoute, useRouter } from "wouter";
import { type ListedPage, pageList } from "./page-list.ts";

const listed: readonly ListedPage[] = Object.values(pageList);

/** The page of a path below `/console`. */
export const useListedPage = (): ((path: string) => ListedPage | undefined) => {
  const { parser } = useRouter();
  return (path) => listed.find(({ path: pattern }) => matchRoute(parser, pattern, path)[0]);
};
