import * as z from "#zod";
import { transactionType } from "../transaction.ts";
import { percentField, TYPED_NAIRA_RULE } from "../values/money.ts";
import { timeField } from "../values/time-field.ts";
import {
  type ActionTable,
  accountInput,
  bookRead,
  nairaAmount,
  printableText,
  serviceChange,
  typedNumber,
  whySchema,
} from "./action.ts";

const AMOUNT_KOBO_MAX = 999_999_999;
const PERCENT_MAX = 1_000;

const priceRuleView = z.object({
  rule_id: z.string(),
  kind: transactionType,
  network: z.nullable(z.string()),
  plan_id: z.nullable(z.int()),
  /** What it adds to the face value, in percent or in NGN; below 0 it takes off. Both null: it ends the rule before it. */
  percent: z.nullable(z.number()),
  amount: z.nullable(nairaAmount),
  from: z.iso.datetime(),
  state: z.enum(["in force", "later"]),
  /** It may make a price below cost: that is meant, or the upstream's discount is lower than when it was set. */
  below_cost: z.boolean(),
});

/** What an account pays where it differs from the face value. */
export const pricesActions = {
  "prices list": {
    ...bookRead,
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
    ...serviceChange,
    fourEyes: true,
    input: z.extend(accountInput, {
      kind: transactionType.check(z.meta({ description: `one of ${transactionType.options.join(", ")}` })),
      network: z
        .optional(printableText.check(z.toLowerCase(), z.minLength(1), z.maxLength(30)))
        .register(z.globalRegistry, { description: "only orders of the network with this code" }),
      plan_id: z
        .optional(z.pipe(typedNumber, z.int().check(z.positive("Must be the id of a plan, as catalog show has it"))))
        .register(z.globalRegistry, { description: "only this data plan" }),
      percent: z
        .optional(z.pipe(typedNumber, percentField.check(z.minimum(-100), z.maximum(PERCENT_MAX))))
        .register(z.globalRegistry, { description: "what it adds to the face value; -2.5 takes 2.5 percent off" }),
      amount_kobo: z
        .optional(
          z
            .int(TYPED_NAIRA_RULE)
            .check(z.minimum(-AMOUNT_KOBO_MAX, "Is too low"), z.maximum(AMOUNT_KOBO_MAX, "Is too high")),
        )
        .register(z.globalRegistry, { description: "NGN that it adds to the face value; -10 takes 10 NGN off" }),
      from: z.optional(timeField).register(z.globalRegistry, {
        description: "when it begins; by default as soon as no app may hold the price before it",
      }),
      below_cost: z.optional(z.boolean()).register(z.globalRegistry, { description: "allow a price below cost" }),
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
    ...serviceChange,
    fourEyes: true,
    input: z.extend(accountInput, {
      rule_id: printableText.check(z.minLength(1), z.maxLength(40)),
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
