import * as z from "zod";
import { timeField } from "../fields.ts";
import { percentField, TYPED_NAIRA_RULE } from "../money.ts";
import { bookReadRoles } from "../roles.ts";
import { transactionType } from "../transaction.ts";
import { type ActionTable, accountInput, nairaAmount, printableText, whySchema } from "./action.ts";

const AMOUNT_KOBO_MAX = 999_999_999;
const PERCENT_MAX = 1_000;

const priceRuleView = z.object({
  rule_id: z.string(),
  kind: transactionType,
  network: z.string().nullable(),
  plan_id: z.int().nullable(),
  /** What it adds to the face value, in percent or in NGN; below 0 it takes off. Both null: it ends the rule before it. */
  percent: z.number().nullable(),
  amount: nairaAmount.nullable(),
  from: z.iso.datetime(),
  state: z.enum(["in force", "later"]),
  /** A price below cost is meant. */
  below_cost: z.boolean(),
});

/** What an account pays where it differs from the face value. */
export const pricesActions = {
  "prices list": {
    scope: "service",
    roles: bookReadRoles,
    kind: "read",
    input: accountInput,
    output: z.object({ account_id: z.string(), rules: z.array(priceRuleView) }),
    summary: "List the price rules of an account that are in force or begin later",
    command: {
      takes: { account: "<account>" },
      example: "acc_0123456789abcdef01",
      table: {
        rows: "rules",
        columns: ["rule_id", "kind", "network", "plan_id", "percent", "amount", "from", "state", "below_cost"],
      },
    },
  },
  "prices set": {
    scope: "service",
    roles: ["operator"],
    kind: "change",
    fourEyes: true,
    input: accountInput.extend({
      kind: transactionType.describe(`one of ${transactionType.options.join(", ")}`),
      network: printableText
        .toLowerCase()
        .min(1)
        .max(30)
        .optional()
        .describe("only orders of the network with this code"),
      plan_id: z.coerce.number("Must be a number").int().positive().optional().describe("only this data plan"),
      percent: z.coerce
        .number("Must be a number")
        .pipe(percentField.min(-100, "Must be at least -100").max(PERCENT_MAX, `Must be at most ${PERCENT_MAX}`))
        .optional()
        .describe("what it adds to the face value; -2.5 takes 2.5 percent off"),
      amount_kobo: z
        .int(TYPED_NAIRA_RULE)
        .min(-AMOUNT_KOBO_MAX, "Is too low")
        .max(AMOUNT_KOBO_MAX, "Is too high")
        .optional()
        .describe("NGN that it adds to the face value; -10 takes 10 NGN off"),
      from: timeField.optional().describe("when it begins; by default as soon as no app may hold the price before it"),
      below_cost: z.boolean().optional().describe("a price below cost is meant"),
      why: whySchema,
    }),
    output: z.object({ account_id: z.string(), rule: priceRuleView }),
    summary: "Set what an account pays for a kind of order, a network or a plan, from a time on",
    command: {
      takes: {
        account: "<account>",
        kind: "--kind <kind>",
        network: "--network <code>",
        plan_id: "--plan <id>",
        percent: "--percent <percent>",
        amount_kobo: "--amount <naira>",
        from: "--from <time>",
        below_cost: "--below-cost",
      },
      example: 'acc_0123456789abcdef01 --kind airtime --network mtn --percent -2 --why "contract of November"',
    },
  },
  "prices remove": {
    scope: "service",
    roles: ["operator"],
    kind: "change",
    input: accountInput.extend({
      rule_id: printableText.min(1, "Must not be empty").max(40),
      why: whySchema,
    }),
    output: z.object({
      account_id: z.string(),
      rule_id: z.string(),
      /** When it ends; of a rule that has not begun, the time of the removal. */
      ends_at: z.iso.datetime(),
    }),
    summary: "End a price rule as soon as no app may hold its price, or drop one that has not begun",
    command: {
      takes: { account: "<account>", rule_id: "<rule>" },
      example: 'acc_0123456789abcdef01 pr_0123456789abcdef01 --why "the contract has ended"',
    },
  },
} as const satisfies ActionTable;
