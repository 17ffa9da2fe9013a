import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { brokenLinks } from "../../../../tools/site/broken-links.ts";
import { temporaryFolder } from "../../../builders/cleanups.ts";

const siteOf = (page: string): string => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "guides"));
  writeFileSync(join(folder, "index.html"), '<h1 id="top">Home</h1><a href="/guides/">guides</a>');
  writeFileSync(join(folder, "guides/index.html"), `<h2 id="a-b">A</h2>${page}`);
  writeFileSync(join(folder, "picture.png"), "");
  return folder;
};

test("links to pages, headings and pictures of the site, and to other sites, are not broken", () => {
  const links = ["/", "#a-b", "/index.html#top", "../picture.png", "https://example.com/none", "./index.html"];
  expect(brokenLinks(siteOf(links.map((link) => `<a href="${link}">x</a>`).join("")))).toEqual([]);
});

test.each(["/none.html", "/index.html#none", "#none", "../none.png"])("%s is broken", (link) => {
  expect(brokenLinks(siteOf(`<img src="${link}">`))).toEqual([`guides/index.html: ${link}`]);
});

test("a link of a site below a path begins with the path", () => {
  const folder = siteOf('<a href="/docs/index.html">right</a>');
  writeFileSync(join(folder, "index.html"), '<a href="/guides/">wrong</a>');
  expect(brokenLinks(folder, undefined, "/docs/")).toEqual(["index.html: /guides/"]);
});

test("a link to a page that is left out is not broken", () => {
  const folder = siteOf('<a href="/later.html">later</a><a href="/never.html">never</a>');
  expect(brokenLinks(folder, (path) => path === "later.html")).toEqual(["guides/index.html: /never.html"]);
});
