import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { projectRoot } from "../../../../infra/bundle/project-root.ts";
import { circularFiles, circularFolders, layeredFiles, layers, violationsIn } from "../../../../tools/docs/layers.ts";

describe("the table of layers", () => {
  const files = layeredFiles();

  test("the table of layers contains every file", () => {
    const folders = Object.keys(layers);
    const outside = [...files.keys()].filter((file) => !folders.some((folder) => file.startsWith(`${folder}/`)));
    expect(outside).toEqual([]);
  });

  test("the table of layers has no circle", () => {
    expect(circularFolders(layers)).toEqual([]);
  });

  test("docs/architecture.md says what every folder of the table of layers holds", () => {
    const text = readFileSync(join(projectRoot, "docs/architecture.md"), "utf8").split("### Layers")[0] ?? "";
    const described = [...text.matchAll(/^\| (`[^|]*`) \|/gm)].flatMap(
      ([, names = ""]) => names.match(/[^`, ]+/g) ?? [],
    );
    const isDescribed = (folder: string): boolean =>
      described.some((name) => `${name}/`.startsWith(`${folder}/`) || folder.startsWith(`${name}/`));
    expect(Object.keys(layers).filter((folder) => !isDescribed(folder))).toEqual([]);
  });

  test("a circle in a table of layers is found, also through `shared` and further folders", () => {
    const circle = { "shared/ledger": ["infra"], infra: ["tools/docs"], "tools/docs": ["shared"] };
    const table = { "shared/platform": [], "shared/lambda": ["shared/platform"], ...circle };
    expect(circularFolders(table)).toEqual(Object.keys(circle));
  });

  test("no files import each other, also for types and through others", () => {
    expect(circularFiles(files)).toEqual([]);
  });

  test("a circle of files is found, also of types; a file that only imports it, or is imported by it, is not part of it", () => {
    const texts = {
      "shared/orders/place-order.ts": 'import { wallet } from "../ledger/wallet.ts";',
      "shared/ledger/wallet.ts": 'import type { Entry } from "./entry.ts";\nimport { kobo } from "./kobo.ts";',
      "shared/ledger/entry.ts": 'export type { Wallet } from "./wallet.ts";',
      "shared/ledger/kobo.ts": "export const kobo = 1;",
    };
    expect(circularFiles(new Map(Object.entries(texts)))).toEqual([
      "shared/ledger/wallet.ts",
      "shared/ledger/entry.ts",
    ]);
  });

  test("the table of layers allows every import", () => {
    expect(files.size).toBeGreaterThan(200);
    expect(violationsIn(files)).toEqual([]);
  });

  test("the table of layers forbids an import of a layer above, of an unlisted folder and of test/", () => {
    const text = [
      'import { place } from "../orders/place-order.ts";',
      'import type { Money } from "../platform/money.ts";',
      'import { transact } from "./transact.ts";',
      'const late = await import("../../test/builders/run/until.ts");',
    ].join("\n");
    expect(violationsIn(new Map([["shared/ledger/wallet.ts", text]]))).toEqual([
      { file: "shared/ledger/wallet.ts", imports: "shared/orders/place-order.ts" },
      { file: "shared/ledger/wallet.ts", imports: "test/builders/run/until.ts" },
    ]);
  });
});
