import { describe, expect, test } from "vitest";
import { accountField, printableText, referenceInput } from "../../../../../shared/contract/actions/action.ts";
import { actionNames, actions } from "../../../../../shared/contract/actions/actions.ts";

/** Inputs that name an item of the ledger: DynamoDB refuses an empty key, a long one, and one that is no Unicode. */
const NAMES = ["account", "reference", "event", "key", "id"] as const;
const UNUSABLE = ["", "x".repeat(2_049), "\ud800", "a\u0000b"];

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
});
