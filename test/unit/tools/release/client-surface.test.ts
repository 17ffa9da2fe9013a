import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { addDeclarations } from "../../../../tools/release/client-surface.ts";
import { compareSurfaces } from "../../../../tools/release/compare.ts";
import { finished, newDraft } from "../../../../tools/release/surface-schema.ts";
import { temporaryFolder } from "../../../builders/run/cleanups.ts";

const CLIENT = `import type { Reply } from "./contract-types.ts";
/** What is bought. */
export type Order = {
    /** The number. */
    readonly phone: string;
    readonly note?: string;
};
export declare class AirtimeClient {
    #private;
    readonly data: {
        /** Buys. */
        purchase(order: Order): Promise<Reply>;
    };
}
`;
const REPLY = `export type Order = {
    other: string;
};
export type Reply = {
    status: string;
};
export type Unused = {
    a: string;
};
`;

const surfaceOf = (client: string, reply = REPLY) => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "client.d.ts"), client);
  writeFileSync(join(folder, "contract-types.d.ts"), reply);
  writeFileSync(join(folder, "index.d.ts"), 'export { AirtimeClient, type Order } from "./client.ts";\n');
  const draft = newDraft();
  addDeclarations(draft, folder);
  return finished(draft);
};

test("the surface has what is exported, what that mentions, and what an order must have", () => {
  expect(surfaceOf(CLIENT)).toEqual({
    offers: {
      "client AirtimeClient": "class AirtimeClient {",
      "client AirtimeClient.data": ": {",
      "client AirtimeClient.data.purchase": "(order: Order): Promise<Reply>;",
      "client Order": "type Order = {",
      "client Order.note": "?: string;",
      "client Order.phone": ": string;",
      "client Reply": "type Reply = {",
      "client Reply.status": ": string;",
      "client exports AirtimeClient": "",
      "client exports Order": "",
    },
    demands: { "client Order :: phone is required": "" },
  });
});

test.each([
  ["a comment changes", CLIENT.replace("Buys.", "Orders."), REPLY, "none"],
  [
    "an optional field of an order is added",
    CLIENT.replace("readonly note", "readonly more?: string;\n    readonly note"),
    REPLY,
    "minor",
  ],
  [
    "a required field of an order is added",
    CLIENT.replace("readonly note", "readonly more: string;\n    readonly note"),
    REPLY,
    "major",
  ],
  [
    "a field of an answer is added",
    CLIENT,
    REPLY.replace("status: string;", "status: string;\n    more: string;"),
    "minor",
  ],
  ["a field of an answer is removed", CLIENT, REPLY.replace("    status: string;\n", ""), "major"],
  ["a field of an answer can be null", CLIENT, REPLY.replace("status: string;", "status: string | null;"), "major"],
  ["a method is removed", CLIENT.replace(/ {8}purchase.*\n/, ""), REPLY, "major"],
  ["a type that nothing exported mentions changes", CLIENT, REPLY.replace("a: string", "b: string"), "none"],
])("if %s, the level is %4$s", (_what, client, reply, level) => {
  expect(compareSurfaces(surfaceOf(CLIENT), surfaceOf(client, reply)).level).toBe(level);
});
