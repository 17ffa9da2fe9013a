import { createHash } from "node:crypto";
import * as z from "#zod";
import { HOUR_MS } from "../contract/values/durations.ts";
import { hasConditionFailed } from "../platform/aws/errors.ts";
import type { DocumentClient } from "../platform/aws-clients.ts";
import { OperatorError } from "../platform/operator-error.ts";
import { isoTime } from "../platform/time.ts";
import type { AuditPut } from "./audit.ts";
import { getItem, getItems } from "./get-item.ts";
import type { AuditedLedger, Ledger, Writes } from "./ledger.ts";
import { ALL_TIMES, openProposalKeys, queryList } from "./query-index.ts";
import { OPEN_PROPOSALS, PROPOSALS_LIST, proposalPk } from "./schema.ts";
import { transactUnlessRefused } from "./transact.ts";
import { setParts, updateOf } from "./update-parts.ts";

/** An action that waits for another person, or what was decided of it. */
export const proposalSchema = z.object({
  pk: z.string(),
  list_key: z.literal(PROPOSALS_LIST),
  /** Only while its state is `open`: its place in the list of such proposals, which is by `expires_at`. */
  open: z.optional(z.string()),
  listed_at: z.optional(z.iso.datetime()),
  proposal_id: z.string(),
  state: z.enum(["open", "approved", "rejected"]),
  action: z.string(),
  /** The action's input as JSON: what is approved is what was proposed. */
  input: z.string(),
  account_id: z.optional(z.string()),
  consequence: z.string(),
  amount_kobo: z.optional(z.int()),
  why: z.optional(z.string()),
  proposed_by: z.string(),
  /** The subject at the identity provider of the person who proposed it. */
  proposer: z.string(),
  /** That provider; absent in a stage without a console. */
  issuer: z.optional(z.string()),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
  decided_by: z.optional(z.string()),
  decided_at: z.optional(z.iso.datetime()),
  decided_why: z.optional(z.string()),
  broke_glass: z.optional(z.literal(true)),
});
export type Proposal = z.infer<typeof proposalSchema>;

export type NewProposal = Pick<
  Proposal,
  "action" | "input" | "account_id" | "consequence" | "amount_kobo" | "why" | "proposed_by" | "proposer" | "issuer"
>;

/** The id of the n-th proposal of the same input by the same person, so that two equal requests at once share one. */
const proposalId = ({ proposer, issuer, action, input }: NewProposal, time: number): string =>
  `prop_${createHash("sha256")
    .update(JSON.stringify([proposer, issuer, action, input, time]))
    .digest("hex")
    .slice(0, 18)}`;

const proposalOf = (ledger: Ledger, id: string, proposed: NewProposal, hours: number): Proposal => {
  const nowMs = ledger.clock();
  const created_at = isoTime(nowMs);
  const expires_at = isoTime(nowMs + hours * HOUR_MS);
  return {
    pk: proposalPk(id),
    list_key: PROPOSALS_LIST,
    open: OPEN_PROPOSALS,
    listed_at: expires_at,
    proposal_id: id,
    state: "open",
    ...proposed,
    created_at,
    expires_at,
  };
};

/** Open proposals of one person; a few more where the person sends many at once. */
const OPEN_OF_ONE_MAX = 20;

/**
 * Stores a proposal, or resolves with the same one if it is open. What was decided or has expired is proposed again, under another
 * id.
 */
export const putProposal = async (
  ledger: Ledger,
  proposed: NewProposal,
  hours: number,
  auditOf: (proposal: Proposal) => AuditPut,
): Promise<Proposal> => {
  for (let time = 1; ; ) {
    const id = proposalId(proposed, time);
    const stored = await readProposal(ledger, id);
    if (stored?.state === "open" && !isExpired(stored, ledger.clock())) return stored;
    if (stored !== undefined) {
      time += 1;
      continue;
    }
    const own = (await openProposals(ledger)).filter(({ proposer }) => proposer === proposed.proposer);
    if (own.length >= OPEN_OF_ONE_MAX) {
      throw new OperatorError(
        `${OPEN_OF_ONE_MAX} of your proposals are open: have some approved, or withdraw some, and propose it then`,
      );
    }
    const Item = proposalOf(ledger, id, proposed, hours);
    const put = { Put: { TableName: ledger.table, Item, ConditionExpression: "attribute_not_exists(pk)" } };
    // Refused: an equal request was faster, and the next turn reads its proposal.
    if (await transactUnlessRefused(ledger, [put, auditOf(Item)])) return Item;
  }
};

export const readProposal = (ledger: Ledger, id: string): Promise<Proposal | undefined> =>
  getItem(ledger, proposalPk(id), proposalSchema);

const LISTED_PROPOSALS_MAX = 100;

/** The proposals that can be decided, newest first. */
export const openProposals = async (ledger: Ledger): Promise<readonly Proposal[]> => {
  const nowMs = ledger.clock();
  const keys = await openProposalKeys(ledger, { ...ALL_TIMES, from: isoTime(nowMs) });
  // The index lags: some may be decided.
  return (await getItems(ledger, keys, proposalSchema))
    .filter((proposal) => proposal.state === "open" && !isExpired(proposal, nowMs))
    .toSorted((one, other) => (one.created_at > other.created_at ? -1 : 1));
};

/** The latest, newest first. */
export const latestProposals = async (ledger: Ledger): Promise<readonly Proposal[]> => {
  const { keys } = await queryList(ledger, PROPOSALS_LIST, ALL_TIMES, undefined, { newest: LISTED_PROPOSALS_MAX });
  return getItems(ledger, keys, proposalSchema);
};

export const isExpired = ({ expires_at }: Proposal, nowMs: number): boolean => expires_at <= isoTime(nowMs);

export type ProposalDecision = {
  readonly state: "approved" | "rejected";
  readonly by: string;
  readonly why?: string | undefined;
  readonly brokeGlass?: boolean;
};

/** The write that decides an open proposal. An expired one can still be rejected. */
const decision = (
  ledger: Ledger,
  { pk }: Proposal,
  { state, by, why, brokeGlass = false }: ProposalDecision,
): Writes[number] => {
  const decided = {
    ...{ state, decided_by: by, decided_at: isoTime(ledger.clock()), decided_why: why },
    ...(brokeGlass && { broke_glass: true }),
  };
  const update = updateOf(setParts(decided, ["open", "listed_at"]), {
    conditions: ["#state = :undecided", ...(state === "approved" ? ["expires_at > :decided_at"] : [])],
    values: { ":undecided": "open" },
  });
  return { Update: { TableName: ledger.table, Key: { pk }, ...update } };
};

/** Resolves with false if it was decided already. */
export const rejectProposal = (
  ledger: Ledger,
  proposal: Proposal,
  rejected: Omit<ProposalDecision, "state">,
  audit: AuditPut,
): Promise<boolean> =>
  transactUnlessRefused(ledger, [decision(ledger, proposal, { ...rejected, state: "rejected" }), audit]);

/** Another decision came first, or the proposal has expired: nothing was written. */
export class ProposalDecidedError extends OperatorError {
  override readonly name = "ProposalDecidedError";
}

/**
 * The client with which a proposal is carried out: the transaction that has the action's audit entry also approves the
 * proposal, so that both happen once, or neither.
 */
export const approvingClient = (
  { db, auditTable, ...ledger }: AuditedLedger,
  proposal: Proposal,
  approved: Omit<ProposalDecision, "state">,
): DocumentClient => {
  const write = decision({ db, ...ledger }, proposal, { ...approved, state: "approved" });
  return {
    get: (...args) => db.get(...args),
    put: (...args) => db.put(...args),
    update: (...args) => db.update(...args),
    query: (...args) => db.query(...args),
    batchGet: (...args) => db.batchGet(...args),
    transactWrite: async (input, ...options) => {
      const items = input.TransactItems ?? [];
      if (!items.some(({ Put }) => Put?.TableName === auditTable)) return db.transactWrite(input, ...options);
      try {
        return await db.transactWrite({ ...input, TransactItems: [...items, write] }, ...options);
      } catch (error) {
        if (!hasConditionFailed(error, items.length)) throw error;
        throw new ProposalDecidedError(`${proposal.proposal_id} was decided before, or has expired`, { cause: error });
      }
    },
  };
};
