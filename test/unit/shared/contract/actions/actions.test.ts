import { describe, expect, test } from "vitest";
import type * as z from "#zod";
import {
  accountField,
  printableText,
  referenceInput,
  whySchema,
} from "../../../../../shared/contract/actions/action.ts";
import { actionNames, actions } from "../../../../../shared/contract/actions/actions.ts";

/** Inputs that name an item of the ledger: DynamoDB refuses an empty key, a long one, and one that is no Unicode. */
const NAMES = ["account", "reference", "event", "key", "id"] as const;
const UNUSABLE = ["", "x".repeat(2_049), "\ud800", "a\u0000b"];

/** The texts of changes that are kept as they were typed, and why. */
const KEPT_AS_TYPED: Readonly<Record<string, string>> = {
  name: "people find an account, a key or an endpoint by it",
  url: "webhooks go there",
  slack_url: "notifications go there",
  ranges: "anything but addresses is refused by what stores it",
  network: "of a price rule: compared with those of the catalog",
  number: "hashed, and never kept",
  reference: "names what exists",
  rule_id: "names what exists",
  person: "names what exists",
  case: "names what exists",
  withdraw: "names what exists",
  before: "what the person saw; compared, and never kept",
  cursor: "a place that the service gave",
};

describe("the inputs of actions", () => {
  const named = actionNames.flatMap((action) =>
    NAMES.filter((name) => name in actions[action].input.shape).map((name) => ({ action, name })),
  );
  test.each(named)("$action refuses a text as $name that cannot be a key of DynamoDB", ({ action, name }) => {
    for (const text of UNUSABLE) {
      const { error } = actions[action].input.safeParse({ [name]: text });
      expect(error?.issues.map(({ path }) => path[0])).toContain(name);
    }
  });

  test("an account's id, and the references of the service, of callers and of the upstream are taken", () => {
    expect(accountField.parse("acc_0123456789abcdef01")).toBe("acc_0123456789abcdef01");
    for (const reference of ["DATA_7Z9K3QX1V5B8M2N4C6D0F1G3HJ", "order:1._-", "UP/2026 11", "x".repeat(100)]) {
      expect(referenceInput.parse(reference)).toBe(reference);
    }
  });

  test("no change keeps a phone number in a text that a person typed, but in those that are kept as typed", () => {
    const typed = "call 0803 123 4567 now";
    const changes = actionNames.filter((name) => actions[name].kind === "change" || "audited" in actions[name]);
    const kept = changes.flatMap((name) =>
      Object.entries<z.ZodMiniType>(actions[name].input.shape).flatMap(([field, schema]) => {
        const taken = [typed, [typed]].map((value) => schema.safeParse(value)).find(({ success }) => success);
        return JSON.stringify(taken?.data)?.includes("123 4567") ? [field] : [];
      }),
    );
    expect(new Set(kept)).toEqual(new Set(Object.keys(KEPT_AS_TYPED)));
  });

  test("a reason keeps references of banks and of the upstream, and a note, which owners read, keeps no long number", () => {
    const typed = "0803 123 4567 called, upstream reference 20261130093012";
    const { note } = actions["transactions note"].input.shape;
    expect(whySchema.parse(typed)).toBe("**** *** **67 called, upstream reference 20261130093012");
    expect(note.parse(typed)).toBe("**** *** **67 called, upstream reference ************12");
  });

  test("a number may be typed, and neither an empty field nor a missing value is 0", () => {
    const window = actions["accounts duplicates"].input.shape.window_s;
    for (const typed of [300, "300", " 300 "]) expect(window.parse(typed)).toBe(300);
    const { percent, plan_id } = actions["prices set"].input.shape;
    expect([percent.parse("-2.5"), percent.parse(undefined)]).toEqual([-2.5, undefined]);
    for (const none of ["", " ", null, false, [], "five"]) {
      for (const field of [window, percent, plan_id]) {
        expect(field.safeParse(none).error?.issues[0]?.message).toBe("Must be a number such as 5000 or -2.5");
      }
    }
  });

  test("a text with half a surrogate pair is not printable", () => {
    expect(printableText.safeParse("ada \ud83d").success).toBe(false);
    expect(printableText.parse("ada \ud83d\ude00")).toBe("ada \ud83d\ude00");
  });

  test("a joined emoji is not printable, and its refusal says that emoji may have an invisible character", () => {
    const message = "Must not contain control or invisible characters; some emoji contain one";
    expect(printableText.safeParse("ada \u{1f469}\u200d\u{1f4bb}").error?.issues).toMatchObject([{ message }]);
  });
});
