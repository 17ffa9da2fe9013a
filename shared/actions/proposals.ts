import { type ActionName, actionNames, mayDo } from "../contract/actions/actions.ts";
import type { ProposalView, proposalsActions } from "../contract/actions/proposals.ts";
import { nairaFromKobo } from "../contract/values/money.ts";
import { actorName, SERVICE } from "../ledger/audit.ts";
import {
  approvingClient,
  isExpired,
  latestProposals,
  openProposals,
  type Proposal,
  ProposalDecidedError,
  putProposal,
  readProposal,
  rejectProposal,
} from "../ledger/proposal.ts";
import { log } from "../platform/log.ts";
import { NotAllowedError, NotFoundError, OperatorError } from "../platform/operator-error.ts";
import { orNull } from "../platform/or-null.ts";
import { type ActionContext, type AuditFields, auditItem, type ConsoleRequest } from "./action-context.ts";
import type { ActionRuns } from "./action-runs.ts";
import { type Identified, identify } from "./four-eyes.ts";
import { type Preview, proposableOf } from "./proposables.ts";

/**
 * Stores what the person asks for as a proposal, if the stage has another person approve it; undefined if the person may
 * do it alone. A repetition of an open proposal is that proposal.
 */
export const propose = async (
  context: ActionContext,
  action: string,
  input: object,
): Promise<ProposalView | undefined> => {
  const { fourEyes, ledger } = context;
  const proposable = fourEyes && proposableOf(action);
  if (proposable === undefined || fourEyes === undefined) return undefined;
  const preview = await proposable.preview(context, input);
  if (!preview.needsApproval) return undefined;
  const request = requestOf(context);
  const { subject: proposer, refusal } = await identify(ledger, fourEyes, request.actor);
  if (proposer === undefined) throw new NotAllowedError(refusal);
  const { account, consequence, amountKobo } = preview;
  const why = "why" in input && typeof input.why === "string" ? input.why : undefined;
  const text = JSON.stringify(preview.input ?? input);
  const proposal = await putProposal(
    ledger,
    {
      ...{ action, input: text, consequence, proposer, proposed_by: actorName(request.actor) },
      ...{ account_id: account, amount_kobo: amountKobo, why, issuer: fourEyes.issuer },
    },
    fourEyes.hours,
    (made) => auditOf(context, made, "proposals propose", why),
  );
  return viewOf(context, proposal);
};

export const proposalsRuns: ActionRuns<typeof proposalsActions> = {
  "proposals list": async (context, { state }) => {
    const asker = await askerOf(context);
    const proposals = state === "open" ? await openProposals(context.ledger) : await latestProposals(context.ledger);
    return { proposals: await Promise.all(proposals.map((proposal) => viewOf(context, proposal, asker))) };
  },
  "proposals approve": (context, { proposal: id }) => carryOut(context, id, {}),
  "proposals break-glass": (context, { proposal: id, why }) => carryOut(context, id, { why, brokeGlass: true }),
  "proposals reject": async (context, { proposal: id, why }) => {
    const by = actorName(requestOf(context).actor);
    const proposal = await requireProposal(context, id);
    const asker = await askerOf(context);
    if (!mayDecide(asker, proposal) && asker.identified?.subject !== proposal.proposer) {
      throw new NotAllowedError("Your role may not do what is proposed, and another person proposed it");
    }
    const audit = auditOf(context, proposal, "proposals reject", why);
    const isRejected = await rejectProposal(context.ledger, proposal, { by, why }, audit);
    const stored = await requireProposal(context, id);
    if (stored.state !== "rejected") throw decidedError(stored);
    return { ...(await viewOf(context, stored)), repeated: !isRejected };
  },
};

/** How many proposals the person who asks may approve. */
export const countApprovable = async (context: ActionContext): Promise<number> => {
  if (context.fourEyes === undefined || context.request === undefined) return 0;
  const [open, asker] = await Promise.all([openProposals(context.ledger), askerOf(context)]);
  return open.filter((proposal) => refusalOf(context, asker, proposal) === undefined).length;
};

type Carried = { readonly why?: string; readonly brokeGlass?: true };

/** Carries out what was proposed, in one write with the approval. */
const carryOut = async (context: ActionContext, id: string, { why, brokeGlass }: Carried) => {
  const by = actorName(requestOf(context).actor);
  const proposal = await requireProposal(context, id);
  const approvedAlready = async (stored: Proposal) => {
    if (stored.state !== "approved") throw decidedError(stored);
    return { ...(await viewOf(context, stored)), repeated: true };
  };
  if (proposal.state !== "open") return approvedAlready(proposal);
  const refusal = refusalOf(context, await askerOf(context), proposal, brokeGlass);
  if (refusal !== undefined) throw new NotAllowedError(refusal);
  const { action, account_id: account } = proposal;
  const proposable = proposableOf(action);
  if (proposable === undefined) throw new OperatorError(`This version cannot carry out ${action}: propose it again`);
  // Before it acts: a needless page is better than a missing one.
  if (brokeGlass)
    log.alarm("proposal.broke_glass", { proposal: id, action, ...(account !== undefined && { account }) });
  const db = approvingClient(context.ledger, proposal, { by, why, brokeGlass: brokeGlass ?? false });
  const acting: ActionContext = {
    ...context,
    actor: () => ({ ...context.actor(), proposal: id }),
    ledger: { ...context.ledger, db },
    accounts: { ...context.accounts, db },
  };
  try {
    await proposable.carryOut(acting, JSON.parse(proposal.input));
  } catch (error) {
    // Another person was faster, or this is a retry whose first request arrived.
    const stored = await requireProposal(context, id);
    if (error instanceof ProposalDecidedError || stored.state === "approved") return approvedAlready(stored);
    throw error;
  }
  const stored = await requireProposal(context, id);
  // An action that finds its change made writes nothing: then another person was faster too.
  if (stored.state === "approved") return { ...(await viewOf(context, stored)), repeated: stored.decided_by !== by };
  throw new OperatorError(`It was done before, without ${id}, and nothing was changed now. Reject the proposal`);
};

/** Who asks; `identified` is absent in a stage without four eyes. */
type Asker = { readonly request: ConsoleRequest; readonly identified?: Identified };

const askerOf = async (context: ActionContext): Promise<Asker> => {
  const request = requestOf(context);
  const { ledger, fourEyes } = context;
  return { request, ...(fourEyes && { identified: await identify(ledger, fourEyes, request.actor) }) };
};

/** Whether the role of who asks allows what is proposed. */
const mayDecide = ({ request }: Asker, proposal: Proposal): boolean => {
  const action = nameOf(proposal.action);
  return action !== undefined && mayDo({ ...request, owns: [] }, action);
};

/** Why the person who asks may not approve it; undefined if they may. */
const refusalOf = (
  { ledger, fourEyes }: ActionContext,
  asker: Asker,
  proposal: Proposal,
  brokeGlass?: true,
): string | undefined => {
  if (isExpired(proposal, ledger.clock())) return `It expired at ${proposal.expires_at}: propose it again`;
  if (asker.identified === undefined) return "The stage has no setting fourEyes: do it without a proposal";
  if (!mayDecide(asker, proposal)) return "Your role may not do what is proposed";
  if (brokeGlass) return undefined;
  // There the same subject may be another person, and the same person another subject.
  if (proposal.issuer !== fourEyes?.issuer) return "It was proposed under another identity provider: propose it again";
  const { subject, refusal } = asker.identified;
  return subject === proposal.proposer ? "You proposed it: another person approves it" : refusal;
};

const nameOf = (action: string): ActionName | undefined => actionNames.find((name) => name === action);

const requestOf = ({ request }: ActionContext): ConsoleRequest => {
  if (request !== undefined) return request;
  throw new OperatorError("The service decides proposals, because it knows who asks: leave out --direct");
};

const requireProposal = async ({ ledger }: ActionContext, id: string): Promise<Proposal> => {
  const proposal = await readProposal(ledger, id);
  if (proposal === undefined) throw new NotFoundError(`There is no proposal ${id}`);
  return proposal;
};

const decidedError = (proposal: Proposal): OperatorError => {
  const { proposal_id, state, decided_by, decided_at, expires_at } = proposal;
  if (state === "open") return new OperatorError(`${proposal_id} expired at ${expires_at}: propose it again`);
  return new OperatorError(`${proposal_id} was ${state} by ${decided_by} at ${decided_at}`);
};

const auditOf = (context: ActionContext, proposal: Proposal, action: string, why: string | undefined) => {
  const { proposal_id, account_id = SERVICE, action: proposed, consequence } = proposal;
  const fields: AuditFields = { action, why, details: { proposal: proposal_id, action: proposed, consequence } };
  return auditItem(context, account_id, fields);
};

const viewOf = async (context: ActionContext, proposal: Proposal, by?: Asker): Promise<ProposalView> => {
  const isOpen = proposal.state === "open";
  const asker = by ?? (await askerOf(context));
  const refusal = isOpen ? refusalOf(context, asker, proposal) : decidedError(proposal).sentence;
  const now = isOpen ? await previewNow(context, proposal) : {};
  return {
    proposal: proposal.proposal_id,
    state: isOpen && isExpired(proposal, context.ledger.clock()) ? "expired" : proposal.state,
    action: proposal.action,
    account_id: proposal.account_id ?? null,
    consequence: proposal.consequence,
    amount: orNull(proposal.amount_kobo, nairaFromKobo),
    balance_before: orNull(now.balance?.before, nairaFromKobo),
    balance_after: orNull(now.balance?.after, nairaFromKobo),
    why: proposal.why ?? null,
    proposed_by: proposal.proposed_by,
    proposed_at: proposal.created_at,
    expires_at: proposal.expires_at,
    decided_by: proposal.decided_by ?? null,
    decided_at: proposal.decided_at ?? null,
    decided_why: proposal.decided_why ?? null,
    broke_glass: proposal.broke_glass ?? false,
    refusal: refusal ?? now.refusal ?? null,
  };
};

/** The balances now, or why the action would be refused now. */
const previewNow = async (
  context: ActionContext,
  { action, input }: Proposal,
): Promise<{ readonly balance?: Preview["balance"]; readonly refusal?: string }> => {
  try {
    const preview = await proposableOf(action)?.preview(context, JSON.parse(input));
    if (preview?.isDone) return { refusal: "It would be refused now: it was done before" };
    return { balance: preview?.balance };
  } catch (error) {
    if (error instanceof OperatorError) return { refusal: `It would be refused now: ${error.sentence}` };
    throw error;
  }
};
