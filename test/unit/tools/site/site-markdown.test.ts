import { expect, test } from "vitest";
import { codePage, linkedFiles, siteMarkdown, sitePathOf } from "../../../../tools/site/site-markdown.ts";

test.each([
  ["README.md", "index.md"],
  ["docs/webhooks.md", "webhooks.md"],
  ["docs/decisions/README.md", "decisions/index.md"],
  ["client/CHANGELOG.md", "client/changelog.md"],
  ["docs/console/today.png", "console/today.png"],
  ["client/examples/shop.ts", "client/examples/shop-ts.md"],
])("%s is %s on the site", (file, path) => {
  expect(sitePathOf(file)).toBe(path);
});

const markdown = `<!-- layers: written by npm run tables -->
[an error](../README.md#errors), [the shop](../client/examples/shop.ts), [below](#limits), [AWS](https://aws.amazon.com/a.md)
![Today](console/today.png)
<!-- end of layers -->
\`\`\`md
[code](../README.md) <!-- stays -->
\`\`\`
`;

test("links of a document lead to the site's pages; its code stays as it is, and the marks of generated parts are left out", () => {
  expect(
    siteMarkdown("docs/console.md", markdown),
  ).toBe(`[an error](/index.md#errors), [the shop](/client/examples/shop-ts.md), [below](#limits), [AWS](https://aws.amazon.com/a.md)
![Today](/console/today.png)
\`\`\`md
[code](../README.md) <!-- stays -->
\`\`\`
`);
});

test("the files that a document links to are named from the root", () => {
  expect(linkedFiles("docs/console.md", markdown)).toEqual([
    "README.md",
    "client/examples/shop.ts",
    "docs/console/today.png",
  ]);
});

test("a file of code is a page with its name and its code", () => {
  expect(codePage("client/examples/shop.ts", "let a = 1;\n")).toBe("# shop.ts\n\n```ts\nlet a = 1;\n```\n");
});
