import * as z from "#zod";
import {
  type ActionTable,
  bookChange,
  bookRead,
  changeInput,
  nairaAmount,
  serviceChange,
  whySchema,
} from "./action.ts";

const proposalId = z
  .string()
  .check(z.regex(/^prop_[0-9a-f]{18}$/, "Must be the id of a proposal, which begins with prop_"))
  .register(z.globalRegistry, { description: "its id, as `proposals list` shows it" });

/** What a person proposed, and another one decides. Amounts are NGN. */
export const proposalView = z.object({
  proposal: z.string(),
  state: z.enum(["open", "expired", "approved", "rejected"]),
  action: z.string(),
  account_id: z.nullable(z.string()),
  /** What it does, in one sentence. */
  consequence: z.string(),
  /** What it moves. */
  amount: z.nullable(nairaAmount),
  /** Of the account's wallet now, and once it is approved; null if it changes none, or is decided. */
  balance_before: z.nullable(nairaAmount),
  balance_after: z.nullable(nairaAmount),
  why: z.nullable(z.string()),
  proposed_by: z.string(),
  proposed_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
  decided_by: z.nullable(z.string()),
  decided_at: z.nullable(z.iso.datetime()),
  decided_why: z.nullable(z.string()),
  /** One person did it alone. */
  broke_glass: z.boolean(),
  /** Why the person who asks cannot approve it; null if they can. */
  refusal: z.nullable(z.string()),
});
export type ProposalView = z.output<typeof proposalView>;

/** `data` of a 202: nothing has changed yet. */
export const proposedData = z.object({ proposal: proposalView });

const decisionResult = z.extend(proposalView, {
  /** It was decided so before: nothing was changed now. */
  repeated: z.boolean(),
});

/** What one person proposes and another approves, in a stage with the setting `fourEyes`. */
export const proposalsActions = {
  "proposals list": {
    ...bookRead,
    input: z.object({
      state: z
        ._default(z.enum(["open", "all"]), "open")
        .register(z.globalRegistry, { description: "open, or all: the latest 100" }),
    }),
    /** Newest first. */
    output: z.object({ proposals: z.array(proposalView) }),
    summary: "List the proposals that wait for the approval of another person",
    command: {
      takes: { state: "--state <state>" },
      table: {
        rows: "proposals",
        columns: [
          "proposal",
          "state",
          "consequence",
          "balance_before",
          "balance_after",
          "proposed_by: by",
          "why",
          "expires_at",
        ],
      },
    },
  },
  "proposals approve": {
    ...bookChange,
    input: z.extend(changeInput, { proposal: proposalId }),
    output: decisionResult,
    summary: "Approve a proposal of another person, which carries it out exactly as proposed, once",
    command: { takes: { proposal: "<proposal>" }, example: "prop_0123456789abcdef01", asks: true },
  },
  "proposals reject": {
    ...bookChange,
    input: z.object({ proposal: proposalId, why: whySchema }),
    output: decisionResult,
    summary: "Reject a proposal, or withdraw your own",
    command: {
      takes: { proposal: "<proposal>" },
      example: 'prop_0123456789abcdef01 --why "the transfer did not arrive"',
    },
  },
  "proposals break-glass": {
    ...serviceChange,
    irreversible: true,
    input: z.object({ proposal: proposalId, why: whySchema }),
    output: decisionResult,
    summary: "Carry out a proposal alone when nobody else can be reached; it pages the operators",
    command: {
      takes: { proposal: "<proposal>" },
      example: 'prop_0123456789abcdef01 --why "sales are stopped, nobody answers, ticket 97"',
    },
  },
} as const satisfies ActionTable;
