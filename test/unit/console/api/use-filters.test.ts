import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { Router } from "wouter";
import { usePageNumber } from "../../../../console/api/use-filters.ts";

const Pages = () => usePageNumber()[0];
const pagesAt = (search: string): string => {
  const At = () => Router({ ssrPath: "/", ssrSearch: search, children: createElement(Pages) });
  return renderToStaticMarkup(createElement(At));
};

test.each([
  ["", "1"],
  ["pages=7", "7"],
  // 5,000 orders are on 100 pages: the button for the next one must not lead to the first.
  ["pages=101", "101"],
  ["pages=1000000000", "10000"],
  ["pages=0", "1"],
  ["pages=1.5", "1"],
  ["pages=all", "1"],
])("the address %j shows %s of a list's pages", (search, pages) => {
  expect(pagesAt(search)).toBe(pages);
});
