import { expect, test } from "vitest";
import { pageFiles, pageKinds, pageList, readers } from "../../../../tools/site/page-list.ts";
import { sitePathOf } from "../../../../tools/site/site-markdown.ts";
import { llmsText, sidebar } from "../../../../tools/site/write-sources.ts";
import { projectFiles } from "../../../builders/run/project-files.ts";

const documents = projectFiles("**/*.md");

test("every document is a page of the site, once, with a path of its own", () => {
  expect(pageFiles().toSorted()).toEqual(documents.toSorted());
  expect(new Set(pageFiles().map(sitePathOf)).size).toBe(documents.length);
});

test("there is a page of each kind, and a guide for each reader", () => {
  expect(new Set(pageList.map(({ kind }) => kind))).toEqual(new Set(pageKinds));
  const guided = pageList.filter(({ kind }) => kind === "how-to").map(({ reader }) => reader);
  expect(new Set(guided)).toEqual(new Set(readers));
});

test("the navigation and llms.txt have every page", () => {
  const navigation = JSON.stringify(sidebar());
  const text = llmsText();
  for (const { file, answers } of pageList) {
    const path = sitePathOf(file);
    expect(navigation).toContain(`"/${path.replace(/(^|\/)index\.md$/, "$1").replace(/\.md$/, ".html")}"`);
    expect(text).toContain(`(/${path}): ${answers}`);
  }
  expect(text).toMatch(
    /^# Airtime, Data and Identity Service\n\n> A company deploys this service [^\n]+\n\n## Tutorial\n/,
  );
});
